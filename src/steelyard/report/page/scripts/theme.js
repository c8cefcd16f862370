// Light and dark: as the system says, until the reader chooses.

function storedTheme() {
  try {
    return window.localStorage.getItem('steelyard-theme');
  } catch {
    return null; // some browsers store nothing for local files
  }
}

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
}

function listenToTheme() {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  applyTheme(storedTheme() ?? (system.matches ? 'dark' : 'light'));
  system.addEventListener('change', () => { if (!storedTheme()) applyTheme(system.matches ? 'dark' : 'light'); });
  byId('theme').addEventListener('click', () => {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    applyTheme(theme);
    try {
      window.localStorage.setItem('steelyard-theme', theme);
    } catch { /* the choice lasts until the page is closed */ }
  });
}
