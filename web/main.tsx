import { render } from 'preact';
import { App } from './app/app.js';
import { startKeyboard } from './app/keyboard.js';
import { startNow } from './app/now.js';
import { startRouter } from './app/router.js';
import { startSession } from './app/session.js';
import { startTheme } from './app/theme.js';
import { guardRuns } from './views/tool/kept-runs.js';

startTheme();
startRouter();
startKeyboard();
startNow();
startSession();
guardRuns();
const root = document.getElementById('studio')!;
root.textContent = '';
render(<App />, root);
