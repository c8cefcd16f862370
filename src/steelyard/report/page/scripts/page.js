(() => {
'use strict';
{{dom.js}}
{{data.js}}
{{state.js}}
{{words.js}}
{{charts.js}}
{{map.js}}
{{summary.js}}
{{rules.js}}
{{tradeoff.js}}
{{labels.js}}
{{ask.js}}
{{downloads.js}}
{{main.js}}
})();
