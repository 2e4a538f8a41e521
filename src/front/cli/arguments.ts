import { InvalidArgumentError } from 'commander';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { nearestNames } from '../../kernel/text.js';
import type { Parameter } from '../../model/tool.js';

/** Parses JSON; throws like `JSON.parse`. */
function parseJson(text: string, what: string): JsonValue {
  let isTooLarge = false;
  const value = JSON.parse(text, (_key, each: unknown) => {
    isTooLarge ||= each === Infinity || each === -Infinity;
    return each;
  }) as JsonValue;
  if (!isTooLarge) return value;
  // It would be written as `null`, and the server blamed for not taking that.
  throw new ToolscoutError('INVALID_REQUEST', `${what} cannot be sent: a number in it is too large (above 1.8e308).`);
}

/**
 * Parses JSON of the user into a value that can be sent.
 *
 * @throws ToolscoutError `INVALID_REQUEST` that names `what`.
 */
export function readJson(text: string, what: string): JsonValue {
  try {
    return parseJson(text, what);
  } catch (thrown) {
    if (thrown instanceof ToolscoutError) throw thrown;
    throw new ToolscoutError('INVALID_REQUEST', `${what} is not JSON: ${messageOf(thrown)}.`, {
      suggestion: 'In JSON, names and strings need double quotes: {"path": "README.md"}.',
    });
  }
}

/** A value as its type says; text of another form stays text. */
function readValue(text: string, type: string, what: string): JsonValue {
  const types = new Set(type.split('|').map((each) => each.trim()));
  if (types.has('string') || type === '') return text;
  if ((types.has('number') || types.has('integer')) && text.trim() !== '' && Number.isFinite(Number(text))) {
    return Number(text);
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('null') && text === 'null') return null;
  const isList = type.endsWith('[]');
  try {
    const value = parseJson(text, what);
    return !isList || Array.isArray(value) ? value : type === 'string[]' ? text.split(',') : [value];
  } catch (thrown) {
    if (thrown instanceof ToolscoutError) throw thrown;
    // A list of strings may be written with commas; everything else stays text, and the validation reports it with its
    // path.
    return isList ? text.split(',') : text;
  }
}

/** Why a file of the user cannot be read, as an error. */
export function unreadable(path: string, thrown: unknown): ToolscoutError {
  const isAbsent = (thrown as { code?: unknown } | undefined)?.code === 'ENOENT';
  const message = isAbsent ? `There is no file ${path}.` : `${path} cannot be read: ${messageOf(thrown)}`;
  return new ToolscoutError('INVALID_REQUEST', message, { cause: thrown });
}

/** The value of a flag that names a file or a folder. A shell variable that is not set must not mean the default. */
export function filledIn(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}

/** The value of a flag that counts something. */
export function wholeNumber(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be an integer of at least 1.');
  return number;
}

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The value of a flag that names a time, as milliseconds: so long ago (`90m`, `24h`, `7d`, `2w`), or a date or time of ISO 8601. */
export function timeAgo(now: () => number): (value: string) => number {
  return (value) => {
    const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(value) ?? [];
    if (count !== undefined) return now() - Number(count) * UNITS_MS[unit]!;
    const time = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(time)) throw new InvalidArgumentError('Write 90m, 24h, 7d, 2w, or a date: 2026-01-31.');
    return time;
  };
}

/** The values of a flag that may be given several times; one at a time, since `<value...>` takes the words behind it too. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Arguments from `name=value` (typed by the schema) and `name:=JSON` (as it stands). */
export function parseArguments(pairs: readonly string[], parameters: readonly Parameter[]): JsonObject {
  const types = new Map(parameters.map((parameter) => [parameter.name, parameter.type]));
  const entries = pairs.map((pair): [string, JsonValue] => {
    const equals = pair.indexOf('=');
    if (equals < 1) {
      throw new ToolscoutError('INVALID_REQUEST', `"${pair}" is not an argument; write name=value or name:=JSON.`);
    }
    const value = pair.slice(equals + 1);
    const isJson = pair[equals - 1] === ':';
    const name = pair.slice(0, isJson ? equals - 1 : equals);
    const what = `The value of "${name}"`;
    return [name, isJson ? readJson(value, what) : readValue(value, types.get(name) ?? '', what)];
  });
  return Object.fromEntries(entries);
}

/** Keywords beside `properties` that may name further properties. */
const ELSEWHERE = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', 'patternProperties'];

/** What to say of arguments that a schema does not name, as far as it names all there are. They may be meant all the same. */
export function tellUnknown(names: readonly string[], schema: JsonValue | undefined): string[] {
  if (!isObject(schema) || !isObject(schema['properties'])) return [];
  if (ELSEWHERE.some((keyword) => Object.hasOwn(schema, keyword))) return [];
  const known = Object.keys(schema['properties']);
  const unknown = names.filter((name) => !known.includes(name));
  return unknown.map((name) => {
    const [nearest] = nearestNames(name, known, 1);
    const sent = schema['additionalProperties'] === false ? '' : '; it is sent all the same';
    const near = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
    return `Warning: the tool has no parameter "${name}"${sent}.${near}`;
  });
}

/** A port of the command line. */
export function portNumber(value: string): number {
  const port = Number(value);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('It must be from 0 to 65535.');
  return port;
}
