import type { JsonObject } from '../../kernel/json.js';
import { isLoaderVariable } from '../../kernel/loader-variables.js';
import { NotLaunchable, registryText, resolveInput, type Gathering } from './values.js';
import { objectsAt, textAt } from '../server-json.js';

/** A flag begins with a dash and is one word; `--flag=value` is one word too. */
const FLAG = /^-{1,2}[A-Za-z0-9][^\s]*$/;

function checkName(name: string | undefined): string {
  if (name === undefined) throw new NotLaunchable('one of its named arguments has no name');
  if (!FLAG.test(name)) throw new NotLaunchable(`its argument "${name.slice(0, 100)}" is not the name of a flag`);
  return registryText(name, 'an argument');
}

/** One argument as the words it becomes: none, one, or two for each value of a named one. */
function wordsOf(argument: JsonObject, position: number, gathering: Gathering): string[] {
  const type = textAt(argument, 'type');
  if (type === 'positional') {
    const key = textAt(argument, 'valueHint') ?? `argument-${position + 1}`;
    return resolveInput(argument, key, 'argument', gathering);
  }
  if (type !== 'named') throw new NotLaunchable('one of its arguments is neither named nor positional');
  const name = checkName(textAt(argument, 'name'));
  const fixed = textAt(argument, 'value');
  // Some publishers repeat the word as its own value; one word was meant.
  if (fixed === name || (fixed === undefined && !isAsked(argument))) return [name];
  return resolveInput(argument, name, 'argument', gathering).flatMap((value) => [name, value]);
}

/** A named argument with nothing to say about its value is a switch: `--verbose`. */
function isAsked(argument: JsonObject): boolean {
  return ['default', 'choices', 'format', 'placeholder', 'valueHint', 'isRequired', 'isSecret', 'isRepeated'].some(
    (key) => argument[key] !== undefined,
  );
}

/** What a whole `docker run` looks like when it was put where the arguments of the server belong. */
const DOCKER_WORDS = new Set(['docker', 'run', '-i', '--rm', '-it', '--interactive', '-e', '--env']);

/** The arguments of the server itself, as argv. */
export function packageArguments(source: JsonObject, gathering: Gathering): string[] {
  const words = objectsAt(source, 'packageArguments').flatMap((argument, at) => wordsOf(argument, at, gathering));
  if (textAt(source, 'registryType') === 'oci' && words.some((word) => DOCKER_WORDS.has(word))) {
    throw new NotLaunchable('its packageArguments repeat the docker command');
  }
  return words;
}

/** Switches of a runner that change nothing about what is run; those we set ourselves are not repeated. */
const HARMLESS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['npx', new Set(['-y', '--yes', '-q', '--quiet', '--prefer-offline'])],
  ['uvx', new Set(['-q', '--quiet', '--offline'])],
  ['dnx', new Set(['--yes', '-y'])],
  ['docker', new Set(['run', '-i', '--interactive', '--rm', '--init', '--read-only', '-q', '--quiet'])],
]);

/** Flags of a runner that take a value and keep to the package that was named. */
const VALUED: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['uvx', new Set(['--python'])],
  ['docker', new Set(['-e', '--env', '-v', '--volume', '--mount', '-p', '--publish', '--name', '--platform'])],
]);

const OURS = new Set(['run', '-i', '--interactive', '--rm', '-y', '--yes']);
const MOUNTS = new Set(['-v', '--volume', '--mount']);

/** What of this machine a mount shows: `/a:/b`, `C:\\a:/b`, or `type=bind,src=/a,dst=/b`. */
function sourceOf(mount: string): string | undefined {
  if (!/^[a-z]+=/.test(mount)) return /^((?:[A-Za-z]:[\\/])?[^:]*):/.exec(mount)?.[1] ?? mount;
  if (/(?:^|,)type=(?:volume|tmpfs)(?:,|$)/.test(mount)) return undefined;
  return /(?:^|,)(?:src|source)=([^,]*)/.exec(mount)?.[1];
}

/**
 * A mount may show a server what the user names, or a volume of its own; never a path that the registry chose, neither
 * as a value nor as a default nor through a variable.
 */
function checkMount(mount: string, argument: JsonObject, key: string, gathering: Gathering): void {
  const source = sourceOf(mount);
  if (source === undefined || /^[A-Za-z0-9][\w.-]*$/.test(source) || /^\{[^{}]*\}$/.test(source)) return;
  const said = Object.values(gathering.answers).flat();
  const isSaid =
    textAt(argument, 'value') === undefined
      ? Object.hasOwn(gathering.answers, key)
      : said.some((answer) => answer !== '' && (source === answer || source.startsWith(`${answer}/`)));
  if (isSaid) return;
  throw new NotLaunchable(`it would mount "${source.slice(0, 100)}", a place of your machine that it chose itself`);
}

/**
 * The arguments of the runner, as argv. A runner can be told to run anything at all (`npx -c`, `docker --entrypoint`), so
 * only what is known to be harmless passes (A2, A4).
 */
export function runtimeArguments(source: JsonObject, command: string, gathering: Gathering): string[] {
  const words: string[] = [];
  for (const [at, argument] of objectsAt(source, 'runtimeArguments').entries()) {
    const name = textAt(argument, 'type') === 'named' ? textAt(argument, 'name') : textAt(argument, 'value');
    const [flag = '', joined] = (name ?? '').split(/=(.*)/s);
    if (HARMLESS.get(command)?.has(name ?? '')) {
      if (!OURS.has(name ?? '')) words.push(name!);
      continue;
    }
    const isNamed = textAt(argument, 'type') === 'named' && joined === undefined;
    if (!isNamed || !VALUED.get(command)?.has(flag)) {
      throw new NotLaunchable(`it starts ${command} with the option "${(name ?? '').slice(0, 100)}"`);
    }
    const added = wordsOf(argument, at, gathering);
    const mounts = MOUNTS.has(flag) ? added.filter((word) => word !== flag) : [];
    for (const mount of mounts) checkMount(mount, argument, flag, gathering);
    words.push(...added);
  }
  return words;
}

/** The environment of the server: names, and values or references. */
export function environmentOf(source: JsonObject, gathering: Gathering): Record<string, string> {
  const entries: Array<[string, string]> = [];
  for (const variable of objectsAt(source, 'environmentVariables')) {
    const name = textAt(variable, 'name');
    if (name === undefined || !/^[A-Za-z_][\w.-]{0,199}$/.test(name) || name === '__proto__') {
      throw new NotLaunchable('one of its environment variables has no valid name');
    }
    // A value that only the user can give is the user's own affair.
    const isChosen = textAt(variable, 'value') !== undefined || textAt(variable, 'default') !== undefined;
    if (isChosen && isLoaderVariable(name)) {
      throw new NotLaunchable(`it sets ${name}, which changes the programs that start it`);
    }
    const [value] = resolveInput(variable, name, 'environment', gathering);
    if (value !== undefined) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}
