// The scripts are parts of one function, so names of one file are used in others: tsc checks those names.
import js from '@eslint/js';

export default [
  { ignores: ['src/steelyard/report/page/scripts/page.js'] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: 'script' },
    rules: {
      'no-undef': 'off',
      'no-unused-vars': ['error', { vars: 'local', argsIgnorePattern: '^_' }],
      'no-redeclare': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-restricted-properties': ['error', { property: 'innerHTML', message: 'Names are untrusted: use el().' }, { property: 'insertAdjacentHTML' }],
      'max-len': ['off'],
      complexity: ['error', 15],
      'max-lines-per-function': ['error', 60],
      'max-lines': ['error', 300],
    },
  },
];
