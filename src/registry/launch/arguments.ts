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

/** What a registry may name as `--python`: a version. A path would be the program that runs. */
const PYTHON = /^(?:(?:cpython|pypy|graalpy|python)[@-]?)?[<>=!~]{0,2}\d[\w.,<>=!~*+-]*$/i;

/** The fields of `--mount` that only say what is shown where, by the names that docker has for them. */
const MOUNT_FIELDS: ReadonlyMap<string, string> = new Map([
  ['type', 'type'],
  ['src', 'source'],
  ['source', 'source'],
  ['dst', 'target'],
  ['destination', 'target'],
  ['target', 'target'],
  ['ro', 'readonly'],
  ['readonly', 'readonly'],
]);

/**
 * What of this machine `type=bind,src=/a,dst=/b` shows. Docker takes quotes, upper case, the last of two and options of a driver that mount any
 * folder: what could be read in another way than here is refused (A4).
 */
function sourceIn(mount: string): string | undefined {
  const fields = new Map<string, string>();
  for (const field of mount.split(',')) {
    const [name = '', value = ''] = field.split(/=(.*)/s);
    const known = MOUNT_FIELDS.get(name);
    if (known === undefined || fields.has(known) || /["\r\n]/.test(value)) {
      throw new NotLaunchable(`its mount "${mount.slice(0, 100)}" has more than one type, source and target`);
    }
    fields.set(known, value);
  }
  const type = fields.get('type') ?? 'volume';
  if (type === 'tmpfs') return undefined;
  if (type === 'bind' || type === 'volume') return fields.get('source');
  throw new NotLaunchable(`its mount is of the kind "${type.slice(0, 100)}"`);
}

/** What of this machine a mount shows: `/a:/b`, `C:\\a:/b`, or the source of `--mount`. */
function sourceOf(mount: string, flag: string): string | undefined {
  return flag === '--mount' ? sourceIn(mount) : (/^((?:[A-Za-z]:[\\/])?[^:]*):/.exec(mount)?.[1] ?? mount);
}

/** Whether a path lies in a folder, and does not climb out of it again. */
function isWithin(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`) && !path.slice(folder.length).split(/[\\/]/).includes('..');
}

/** A name of a volume. */
const VOLUME = /^[A-Za-z0-9][\w.-]*$/;

/**
 * A mount may show a server what the user names, or a volume of its own; never a path that the registry chose, neither
 * as a value nor as a default nor through a variable. A volume that the registry names may be that of another container,
 * so the server gets one of its own in its place.
 */
function mountOf(mount: string, argument: JsonObject, key: string, gathering: Gathering): string {
  const isOpen = textAt(argument, 'value') === undefined;
  if (isOpen && Object.hasOwn(gathering.answers, key)) return mount;
  const source = sourceOf(mount, key);
  if (source === undefined || /^\{[^{}]*\}$/.test(source)) return mount;
  const said = isOpen ? [] : Object.values(gathering.answers).flat();
  if (said.some((answer) => answer !== '' && (source === answer || isWithin(source, answer)))) return mount;
  if (VOLUME.test(source)) {
    const own = `toolscout-${gathering.id.replaceAll(/[^\w.-]+/g, '-')}-${source}`;
    return key === '--mount'
      ? mount.replace(/(^|,)(src|source)=[^,]*/, (_field, before: string, name: string) => `${before}${name}=${own}`)
      : own + mount.slice(source.length);
  }
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
    const written = wordsOf(argument, at, gathering);
    // The next word would become its value: the package, and then anything could stand behind it.
    if (written.length === 1) throw new NotLaunchable(`its option ${flag} of ${command} has no value`);
    const isMount = MOUNTS.has(flag);
    const added = written.map((word, place) =>
      isMount && place % 2 === 1 ? mountOf(word, argument, flag, gathering) : word,
    );
    const values = added.filter((_word, place) => place % 2 === 1);
    const isSaid = Object.hasOwn(gathering.answers, flag);
    if (flag === '--python' && !isSaid && values.some((value) => !PYTHON.test(value)))
      throw new NotLaunchable('its option --python of uvx is not a version');
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
