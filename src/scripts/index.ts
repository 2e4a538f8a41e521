export { createScripts, type ScriptRequest, type Scripts } from './scripts.js';
