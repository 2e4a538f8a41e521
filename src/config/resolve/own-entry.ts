import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { bareHost } from '../../net/address.js';

/** The name toolscout gives itself in the files of clients. */
export const OWN_NAME = 'toolscout';

/** How toolscout itself is started and reached, so that it never becomes a server of its own. */
export interface Self {
  readonly script?: string;
  readonly urls?: readonly string[];
  /** The name of this machine. */
  readonly hostname?: string;
}

/** Where a configuration is served, and the file it stands in. */
export interface Served {
  readonly port: number;
  readonly publicUrl?: string;
  readonly config?: string;
}

/** What starts or reaches a server. */
interface Launch {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly url?: string;
}

/** Where it listens unless told otherwise. */
export const USUAL_PORT = 7077;

/** The MCP endpoint, and that of one server passed through. */
const OWN_PATH = /^\/(mcp|servers\/[^/]+\/mcp)\/?$/;

/** Programs that start another one, which follows them and their flags. */
const STARTERS: ReadonlySet<string> = new Set(
  (
    'env exec sudo nohup nice time sh bash zsh dash fish cmd powershell pwsh start ' +
    'node nodejs bun deno tsx npx bunx pnpx pnpm yarn npm corepack volta mise dlx x'
  ).split(' '),
);

/** What starters of packages call running one. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(['dlx', 'exec', 'x', 'run']);

/** Whether a host of a URL is this machine, in any spelling. */
function isThisMachine(hostname: string, self: Self): boolean {
  const host = bareHost(hostname);
  if (isIP(host) !== 0) return host.startsWith('127.') || /^(0\.0\.0\.0|::1?|::ffff:7f..:.*)$/.test(host);
  const own = bareHost(self.hostname ?? '');
  return host === 'localhost' || host.endsWith('.localhost') || (own !== '' && [own, `${own}.local`].includes(host));
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** Whether a URL is one of toolscout: at this machine and the port it is served at, or at its public address. */
function isOwnUrl(text: string, self: Self, served: Served | undefined): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const bases = [...(self.urls ?? []), ...(served?.publicUrl === undefined ? [] : [served.publicUrl])];
  const isKnown = bases.some((base) => {
    const { origin, pathname } = new URL(base);
    const prefix = pathname.replace(/(\/mcp)?\/?$/, '');
    return origin === url.origin && url.pathname.startsWith(prefix) && OWN_PATH.test(url.pathname.slice(prefix.length));
  });
  if (isKnown) return true;
  const port = served?.port ?? USUAL_PORT;
  return isThisMachine(url.hostname, self) && portOf(url) === port && OWN_PATH.test(url.pathname);
}

/** Whether a server of an inventory, which is named by its address alone, is toolscout itself. */
export function isOwnAddress(text: string, self: Self, served: Served): boolean {
  if (!URL.canParse(text)) return false;
  const { origin } = new URL(text);
  return isOwnUrl(`${origin}/mcp`, self, served) || isOwnUrl(text, self, served);
}

function baseOf(word: string): string {
  return word.split(/[\\/]/).at(-1) ?? '';
}

/** `toolscout`, `toolscout@1.2.3`, `/usr/bin/toolscout`, `…\toolscout.cmd`. */
function isOwnProgram(word: string): boolean {
  return /^toolscout([@:][\w.^~-]*|\.(?:cmd|exe|ps1|js|mjs))?$/i.test(baseOf(word));
}

/** `/anywhere/toolscout/dist/cli.js`, and the same from source. */
function isOwnScript(word: string): boolean {
  const parts = word.toLowerCase().split(/[\\/]/);
  return parts.includes(OWN_NAME) && /^(dist\/cli\.[cm]?js|src\/bin\.ts)$/.test(parts.slice(-2).join('/'));
}

/** The words of a command line that may stand in one argument, as with `sh -c`, without their quotes. */
function wordsOf(text: string): string[] {
  return text
    .split(/\s+/)
    .map((word) => word.replace(/^["']|["']$/g, ''))
    .filter((word) => word !== '');
}

/** The program that a command line starts in the end, behind shells, runners and variables. */
function programOf(words: readonly string[]): string | undefined {
  let isBehindStarter = false;
  for (const word of words) {
    const base = baseOf(word)
      .toLowerCase()
      .replace(/\.(cmd|exe)$/, '');
    const isFlag = word.startsWith('-') || /^\/[a-z]$/i.test(word);
    const isPassed = isBehindStarter && (isFlag || /^\w+=/.test(word) || SUBCOMMANDS.has(base));
    if (isPassed) continue;
    if (!STARTERS.has(base)) return word;
    isBehindStarter = true;
  }
  return undefined;
}

/** Whether a command line names a configuration, and another one than ours. */
function namesOtherConfig(words: readonly string[], cwd: string, served: Served | undefined): boolean {
  if (served?.config === undefined) return false;
  const at = words.findIndex((word) => /^--config(=|$)/.test(word));
  const file = at < 0 ? undefined : (words[at]!.split('=', 2)[1] ?? words[at + 1]);
  return file !== undefined && resolve(cwd, file) !== served.config;
}

/** Whether a launch starts toolscout itself, also through a shell, a runner or a bridge. */
function startsItself({ command, args, cwd = '' }: Launch, self: Self, served: Served | undefined): boolean {
  const written = [command ?? '', ...(args ?? [])];
  const line = written.flatMap(wordsOf);
  // A path may hold spaces.
  const words = [...written, ...line];
  const isScript = (word: string): boolean =>
    isOwnScript(word) || (self.script !== undefined && (word === self.script || resolve(cwd, word) === self.script));
  const program = programOf(line);
  const isOwn =
    words.some(isScript) ||
    (program !== undefined && isOwnProgram(program)) ||
    (words.some(isOwnProgram) && words.includes('serve'));
  return isOwn && !namesOtherConfig(line, cwd, served);
}

function reachesItself({ command, args, url }: Launch, self: Self, served: Served | undefined): boolean {
  return [url ?? '', command ?? '', ...(args ?? [])].flatMap(wordsOf).some((word) => isOwnUrl(word, self, served));
}

/** Whether an entry of a client starts or reaches toolscout itself, whatever it is called. Importing it would make toolscout a server of its own. */
export function isOwnEntry(entry: Launch, self: Self): boolean {
  return startsItself(entry, self, undefined) || reachesItself(entry, self, undefined);
}

/** Why a server of a configuration cannot be used because it is toolscout itself; `undefined` when it is another one. */
export function ownLaunchProblem(launch: Launch, self: Self, served: Served): string | undefined {
  if (startsItself(launch, self, served)) {
    return 'starts toolscout itself: remove it, or name the configuration of another toolscout with --config';
  }
  if (!reachesItself(launch, self, served)) return undefined;
  return `is the address of toolscout itself (http.port ${served.port}): remove it, or set http.port if another toolscout is there`;
}
