import { isAbsolute, join } from 'node:path';
import type { ServerScope } from '../../model/server.js';
import { readVariable } from '../../config/environment.js';
import type { SourceFormat, SourcePath } from '../importer.js';
import type { ClientEnvironment } from '../../config/resolve/client-environment.js';

/** An absolute folder from the environment, or the one it stands for. */
function folder(place: ClientEnvironment, variable: string, ...fallback: string[]): string {
  const given = readVariable(place.env, variable);
  return given !== undefined && isAbsolute(given) ? given : join(place.home, ...fallback);
}

/** Where desktop programs keep their settings on this machine. */
export function applicationData(place: ClientEnvironment): string {
  if (place.platform === 'darwin') return join(place.home, 'Library', 'Application Support');
  if (place.platform === 'win32') return folder(place, 'APPDATA', 'AppData', 'Roaming');
  return folder(place, 'XDG_CONFIG_HOME', '.config');
}

/** `~/.config`, as command lines use it also on a Mac; `%APPDATA%` on Windows. */
export function configHome(place: ClientEnvironment): string {
  return place.platform === 'win32' ? applicationData(place) : folder(place, 'XDG_CONFIG_HOME', '.config');
}

/** A folder that a variable may move: `CODEX_HOME` for `~/.codex`. */
export function movableHome(place: ClientEnvironment, variable: string, ...fallback: string[]): string {
  return folder(place, variable, ...fallback);
}

/** Editors that share the layout of VS Code's user folder. */
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'];

/** The user folders of VS Code and of the editors made from it. */
export function editorUserFolders(place: ClientEnvironment, editors: readonly string[] = EDITORS): string[] {
  return editors.map((editor) => join(applicationData(place), editor, 'User'));
}

function sourcePath(scope: ServerScope, format: SourceFormat, parts: readonly string[]): SourcePath {
  return { path: join(...(parts as [string])), scope, format };
}

/** A file of the user. */
export function userFile(format: SourceFormat, ...parts: string[]): SourcePath {
  return sourcePath('user', format, parts);
}

/** A file of the project, where there is one. */
export function projectFile(place: ClientEnvironment, format: SourceFormat, ...parts: string[]): SourcePath[] {
  return place.project === undefined ? [] : [sourcePath('project', format, [place.project, ...parts])];
}
