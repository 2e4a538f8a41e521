import type { SessionState } from '../api/types.js';

/** What commands need to reach the toolscout of this page, and the port that it listens on. */
export type OwnFlags = Partial<Pick<SessionState, 'stateDir' | 'config' | 'demo'>> & { readonly port?: string };

/** The port that toolscout listens on where the config says nothing else. */
const USUAL_PORT = '7077';

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A path as one word of a command line; paths of Windows stand in double quotes. */
export function pathWord(path: string): string {
  return /^(?:[A-Za-z]:|\\\\)/.test(path) && !/^[\w./:@%+-]+$/.test(path) ? `"${path}"` : shellWord(path);
}

/** Commands that work on files alone: they take a config, and nothing else of these. */
const FILE_COMMANDS = /^(?:secret|install)\b/;

/** The flags that a command needs to reach this toolscout. */
export function flagsFor(command: string, { port = '', stateDir, config, demo }: OwnFlags): readonly string[] {
  const isAboutFiles = FILE_COMMANDS.test(command);
  const flags = [
    command === 'studio' && port !== '' && port !== USUAL_PORT && `--port ${port}`,
    config !== undefined && `--config ${pathWord(config)}`,
    demo && !isAboutFiles && '--demo',
    stateDir !== undefined && !isAboutFiles && `--state-dir ${pathWord(stateDir)}`,
  ];
  return flags.filter((flag) => typeof flag === 'string');
}

/** The commands of toolscout that texts name. */
const COMMANDS =
  /\btoolscout ((?:auth|config|secret|skills|store) [a-z]+|(?:approve|call|diff|discover|doctor|eval|inspect|install|pending|reject|search|servers|studio|tools)\b)(?! --)/g;

/** A text with commands of toolscout as they must be typed to reach this one. */
export function withOwnFlags(text: string, flags: OwnFlags): string {
  return text.replaceAll(COMMANDS, (named, command: string) => [named, ...flagsFor(command, flags)].join(' '));
}
