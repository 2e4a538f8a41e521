import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readEnvironment } from '../../config/environment.js';
import { configCandidates } from '../../config/read/find.js';
import { VERSION } from '../../kernel/version.js';
import { homeOf, stateDirectoryOf } from '../state-place.js';
import type { Wish } from './hello.js';
import { changedAt, sharedKey, sharedPlace, type SharedPlace } from './place.js';
import type { ServiceCommand } from './reach-service.js';

/** The process as a forwarder sees it. */
export interface ForwardAround {
  readonly argv: readonly string[];
  readonly execPath: string;
  readonly execArgv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The options of a forwarder, and what follows from them. */
export interface ForwardOptions {
  readonly wish: Wish;
  readonly place: SharedPlace;
  readonly service: ServiceCommand;
  /** How the same gateway is opened in this process. */
  readonly open: { readonly config?: string; readonly stateDir: string; readonly demo?: boolean };
}

/** Flags with a value, by how they are written. */
const VALUES: Readonly<Record<string, string>> = {
  '--config': 'config',
  '-c': 'config',
  '--state-dir': 'stateDir',
  '--mode': 'mode',
  '--server': 'server',
  '--skill': 'skill',
  '--log-level': 'logLevel',
  '--idle': 'idle',
};

/** Flags without one. */
const SWITCHES: Readonly<Record<string, string>> = {
  '--stdio': 'stdio',
  '--shared': 'shared',
  '--demo': 'demo',
  '--admin': 'admin',
};

type Flags = { readonly [name: string]: string | undefined };

/**
 * The flags of `serve`, read without the command line, which is ten times as large as the forwarder; `undefined` for
 * anything that needs it.
 */
function readFlags(words: readonly string[]): Flags | undefined {
  const flags: Record<string, string> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    const equals = word.startsWith('--') ? word.indexOf('=') : -1;
    const name = equals === -1 ? word : word.slice(0, equals);
    const isSwitch = SWITCHES[name];
    const field = VALUES[name];
    if (isSwitch !== undefined && equals === -1) flags[isSwitch] = 'true';
    else if (field !== undefined) {
      const value = equals === -1 ? words[++at] : word.slice(equals + 1);
      if (value === undefined || value === '' || (equals === -1 && value.startsWith('-'))) return undefined;
      flags[field] = value;
    } else return undefined;
  }
  return flags;
}

/** Variables that toolscout itself reads, and those with which a server is signed in to. */
const OWN_VARIABLES =
  /^(?:HOME|NO_PROXY|HTTPS?_PROXY|MCP_AUTH_TOKEN|\w+_MCP_TOKEN|(?:TOOLSCOUT|CCOS|REGISTRY|TOOLS|DISCOVERY|OTEL|XDG|PG)\w*)$/;

/** Names in a config that may be variables, however they are written in the environment: `${NAME}`, `${env:NAME}`, `$NAME`, `env.NAME`. */
const NAMED = /(?:\$\{env:|\$\{?|env(?:\.|\[['"]))(\w+)/g;

/** The files whose text may name variables: the config that is named, or all in which one is looked for. */
function configFiles(config: string | undefined, { cwd, env }: ForwardAround): string[] {
  if (config !== undefined) return [config];
  const xdgConfigHome = readEnvironment(env).configHome;
  return [...configCandidates({ cwd, home: homeOf(env), xdgConfigHome }), join(cwd, 'mcp.json')];
}

/** The text of a file; nothing when it cannot be read, and the service says what is wrong with it. */
function textOf(file: string): string {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return '';
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * The variables that decide what a config means: hosts in which they differ do not share a service. A config that is code can take a
 * variable in any way, so each one whose name stands in it counts.
 */
function decisive(files: readonly string[], env: ForwardAround['env']): [string, string | undefined][] {
  const text = files.map(textOf).join('\n');
  const words = new Set(text.match(/\w+/g));
  const names = new Set(Object.keys(env).filter((name) => OWN_VARIABLES.test(name) || words.has(name)));
  for (const [, name] of text.matchAll(NAMED)) names.add(name!);
  return [...names].toSorted().map((name) => [name, env[name]]);
}

/** Parses the command line of a forwarder; `undefined` when it is another command, or needs the full parser. */
export function readForwardOptions(around: ForwardAround): ForwardOptions | undefined {
  const { argv, cwd, env } = around;
  const [, script = '', command, ...words] = argv;
  const flags = command === 'serve' && words.includes('--shared') ? readFlags(words) : undefined;
  // A toolscout that another one starts must notice a loop, which it can only do in a process of its own (CFG-5).
  if (!flags || flags['stdio'] === undefined || env['TOOLSCOUT_VIA']) return undefined;
  if (flags['stateDir'] === 'memory') return undefined;
  const { mode, server, skill, demo, idle, logLevel } = flags;
  const config = flags['config'] === undefined ? undefined : resolve(cwd, flags['config']);
  const stateDirectory = stateDirectoryOf({ cwd, env, stateDir: flags['stateDir'] });
  // Without a named config the folder decides which one is found.
  const folder = config === undefined ? cwd : homeOf(env);
  const key = sharedKey([
    VERSION,
    script,
    changedAt(script),
    config,
    folder,
    demo,
    idle,
    JSON.stringify(decisive(configFiles(config, around), env)),
  ]);
  const args = [
    ...around.execArgv,
    script,
    'serve',
    '--shared',
    '--shared-key',
    key,
    '--state-dir',
    stateDirectory,
    ...(config === undefined ? [] : ['--config', config]),
    ...(demo === undefined ? [] : ['--demo']),
    ...(idle === undefined ? [] : ['--idle', idle]),
    ...(logLevel === undefined ? [] : ['--log-level', logLevel]),
  ];
  return {
    wish: { kind: 'host', mode, server, skill, ...(flags['admin'] !== undefined && { admin: true }) },
    place: sharedPlace(stateDirectory, key),
    service: { command: around.execPath, args, cwd: folder, env },
    open: { config, stateDir: stateDirectory, ...(demo !== undefined && { demo: true }) },
  };
}
