import type { JsonObject } from '../../kernel/json.js';
import { oneLine, printable } from '../../kernel/text.js';
import type { ServerEntry } from '../../model/config.js';
import type { Launch, LaunchAnswers, RegistryServer } from '../../model/registry-server.js';
import { isInternalHost } from '../../net/address.js';
import { environmentOf, packageArguments, runtimeArguments } from './arguments.js';
import { composeText, NotLaunchable, resolveInput, variablesOf, type Gathering } from './values.js';
import { runnerOf } from './package-command.js';
import { objectsAt, textAt } from '../server-json.js';

/** What a launch is planned with. */
export interface LaunchOptions {
  readonly answers?: LaunchAnswers;
  /** The id the server would get; names of variables begin with it. */
  readonly id?: string;
  /** Only this way: `npm`, `pypi`, `oci`, `nuget`, `mcpb`, `streamable-http` or `sse`. */
  readonly way?: string;
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Headers that belong to the connection. */
const OWN_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer']);
/** Every `${VAR}` of a config; what stands in its place is known only later. */
const REFERENCES = /\$\{[^}]*\}/g;

/** One command as a person reads it: every word, quoted where it must be, nothing shortened. */
export function showCommand(command: string, args: readonly string[]): string {
  const quote = (word: string): string => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word));
  return printable([command, ...args].map(quote).join(' '));
}

function planPackage(source: JsonObject, gathering: Gathering): { entry: ServerEntry; shown: string } {
  const transport = source['transport'];
  const type = typeof transport === 'object' && transport !== null && !Array.isArray(transport) && transport['type'];
  if (type !== undefined && type !== false && type !== 'stdio') {
    throw new NotLaunchable('its package starts a web server of its own; start it and configure its URL');
  }
  const runner = runnerOf(source);
  const runtime = runtimeArguments(source, runner.command, gathering);
  const env = environmentOf(source, gathering);
  const names = runner.command === 'docker' ? Object.keys(env).flatMap((name) => ['-e', name]) : [];
  const own = packageArguments(source, gathering);
  const args = [
    ...runner.before,
    ...runtime,
    ...names,
    runner.name,
    ...runner.after,
    ...(own.length > 0 ? runner.separator : []),
    ...own,
  ];
  const entry: ServerEntry = { command: runner.command, args, ...(Object.keys(env).length > 0 ? { env } : {}) };
  return { entry, shown: showCommand(runner.command, args) };
}

function headersOf(remote: JsonObject, gathering: Gathering): Record<string, string> {
  const entries: Array<[string, string]> = [];
  for (const header of objectsAt(remote, 'headers')) {
    const name = textAt(header, 'name');
    if (name === undefined || !HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase()) || name === '__proto__') {
      throw new NotLaunchable('one of its headers has no valid name');
    }
    const [value] = resolveInput(header, name, 'header', gathering);
    // oxlint-disable-next-line no-control-regex
    if (value !== undefined && /[^\t\u0020-\u007e\u0080-\u00ff]/.test(value)) {
      throw new NotLaunchable(`its header ${name} holds a character that no header may carry`);
    }
    if (value !== undefined) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

/** Whether an answer is about this host: its name, with a port perhaps, or a URL there. */
function names(answer: string, hostname: string): boolean {
  return [answer.trim(), `http://${answer.trim()}`].some(
    (url) => URL.canParse(url) && new URL(url).hostname === hostname,
  );
}

function planRemote(remote: JsonObject, gathering: Gathering): { entry: ServerEntry; shown: string } {
  const type = textAt(remote, 'type');
  if (type !== 'streamable-http' && type !== 'sse') throw new NotLaunchable('its remote is of an unknown kind');
  const template = textAt(remote, 'url');
  if (template === undefined) throw new NotLaunchable('its remote has no URL');
  const values = variablesOf(remote, template, 'url', gathering);
  const url = composeText(template, values, 'its URL');
  const probe = url.replace(REFERENCES, 'x');
  const parsed = URL.canParse(probe) ? new URL(probe) : undefined;
  // A variable without an answer yet may well be the host.
  const isOpen = gathering.missing.length > 0 || gathering.problems.length > 0;
  if (!parsed && !isOpen) throw new NotLaunchable('its URL is not valid');
  if (parsed && !/^https?:$/.test(parsed.protocol)) throw new NotLaunchable('its URL is neither http nor https');
  if (parsed && (parsed.username !== '' || parsed.password !== '')) throw new NotLaunchable('its URL holds a password');
  const said = Object.values(gathering.answers).flat();
  const isChosen = parsed !== undefined && said.some((value) => names(value, parsed.hostname));
  if (parsed && !isChosen && isInternalHost(parsed.hostname)) {
    throw new NotLaunchable(
      `its URL points to ${parsed.hostname}, which is not on the public network; add the server to the config if it is trusted`,
    );
  }
  const headers = headersOf(remote, gathering);
  return {
    entry: {
      type: type === 'sse' ? 'sse' : 'http',
      url,
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
    },
    shown: printable(url),
  };
}

function planWay(
  way: string,
  options: LaunchOptions,
  plan: (gathering: Gathering) => { entry: ServerEntry; shown: string },
): Launch {
  const gathering: Gathering = {
    answers: options.answers ?? {},
    id: options.id ?? 'server',
    inputs: [],
    missing: [],
    problems: [],
    variables: [],
  };
  try {
    const { entry, shown } = plan(gathering);
    const inputs = [...new Map(gathering.inputs.map((input) => [input.key, input])).values()];
    const { missing, variables } = gathering;
    const unknown = Object.keys(gathering.answers).filter((key) => !inputs.some((input) => input.key === key));
    const problems = [...gathering.problems, ...unknown.map((key) => `${key} is not an input of this server`)];
    return {
      way,
      ok: true,
      entry,
      inputs,
      missing: [...new Set(missing)],
      problems: [...new Set(problems)],
      variables: [...new Set(variables)],
      shown,
    };
  } catch (thrown) {
    if (!(thrown instanceof NotLaunchable)) throw thrown;
    return { way, ok: false, reason: printable(thrown.message) };
  }
}

/** What a way is called; an unknown kind is text of others. */
function wayOf(object: JsonObject, key: string, otherwise: string): string {
  return oneLine(printable(textAt(object, key) ?? otherwise), 40);
}

/** Every way in which a server of the registry says it can be reached, packages before remotes, in its own order. */
export function planLaunches(server: Pick<RegistryServer, 'document'>, options: LaunchOptions = {}): Launch[] {
  const { document } = server;
  return [
    ...objectsAt(document, 'packages').map((source) =>
      planWay(wayOf(source, 'registryType', 'package'), options, (gathering) => planPackage(source, gathering)),
    ),
    ...objectsAt(document, 'remotes').map((remote) =>
      planWay(wayOf(remote, 'type', 'remote'), options, (gathering) => planRemote(remote, gathering)),
    ),
  ].filter((launch) => options.way === undefined || launch.way === options.way);
}

/**
 * The first launch that is possible, or why none is. Only the fields of the published schema decide: a `command`,
 * `env`, `volumes` or `cwd` beside them has no effect (A4), nothing is ever run by a shell, and the command is shown
 * whole (S25).
 */
export function planLaunch(server: Pick<RegistryServer, 'document'>, options: LaunchOptions = {}): Launch {
  const ways = planLaunches(server, options);
  const found = ways.find((launch) => launch.ok) ?? ways[0];
  if (found) return found;
  const which = options.way === undefined ? 'neither a package nor a remote' : `nothing of the kind "${options.way}"`;
  return { way: options.way ?? 'none', ok: false, reason: `it names ${which}` };
}
