import type { Problem } from '../../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../../../kernel/json.js';
import { LIMITS } from '../../../kernel/limits.js';

/** The arguments of a tool as an agent meant them, or what is wrong with the way they were sent. */
export interface ToolArguments {
  readonly arguments: JsonObject;
  readonly problems: readonly Problem[];
}

/** The fields of `execute_tool`. */
export const FIELDS: ReadonlySet<string> = new Set(['server', 'tool', 'arguments', 'select']);

/** Keys under which agents send all the arguments instead. */
const ALIASES: ReadonlySet<string> = new Set([
  'args',
  'argument',
  'params',
  'parameters',
  'input',
  'inputs',
  'tool_args',
  'tool_arguments',
  'tool_input',
  'toolArguments',
  'kwargs',
]);

/** Stray keys that are named one by one. */
const MAX_NAMED = 12;
const MAX_KEY_LENGTH = 64;

/** The names of the parameters that a definition declares at its root; `undefined` when the tool is not known. */
function declaredBy(definition: JsonObject | undefined): ReadonlySet<string> | undefined {
  const schema = definition?.['inputSchema'];
  if (!isObject(schema)) return undefined;
  return new Set(isObject(schema['properties']) ? Object.keys(schema['properties']) : []);
}

/** Some hosts and models send the object as JSON text. */
function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) && !isDeeperThan(value, LIMITS.depth) ? value : undefined;
  } catch {
    // Text that is not JSON is reported as what it is.
    return undefined;
  }
}

function kindOf(value: JsonValue): string {
  if (typeof value === 'string') return 'a string that is not a JSON object';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function misplaced(key: string, value: JsonValue | undefined, declared: ReadonlySet<string> | undefined): Problem {
  const name = key.slice(0, MAX_KEY_LENGTH);
  const isAll = ALIASES.has(key) && declared?.has(key) !== true && (isObject(value) || typeof value === 'string');
  const message = isAll ? `is not a field of execute_tool: rename ${name} to arguments` : 'is outside of arguments';
  return { path: name, message: isAll ? message : `${message}: put ${name} inside arguments` };
}

/**
 * Reads the arguments of `execute_tool` as they were sent, given the definition of the tool if it is known. A tool is never run
 * without arguments because they were sent in another place: what cannot be read without a guess becomes a problem.
 * A key beside `arguments` is ignored only where it cannot be an argument: some hosts add keys of their own.
 */
export function readToolArguments(values: JsonObject, definition: JsonObject | undefined): ToolArguments {
  const declared = declaredBy(definition);
  const sent = values['arguments'] ?? undefined;
  const given = typeof sent === 'string' ? parsed(sent) : isObject(sent) ? sent : undefined;
  const args = given && unnested(given, declared);
  const isComplete = args !== undefined && (Object.keys(args).length > 0 || declared?.size === 0);
  const stray = Object.keys(values)
    .filter((key) => !FIELDS.has(key))
    .filter((key) => !isComplete || declared?.has(key) !== false);
  const problems = stray.slice(0, MAX_NAMED).map((key) => misplaced(key, values[key], declared));
  if (args) return { arguments: args, problems };
  if (sent !== undefined && sent !== '') {
    problems.unshift({ path: 'arguments', message: `must be an object, not ${kindOf(sent)}` });
  } else if (stray.length === 0) {
    const message = 'is missing: send an object, or {} to call the tool without arguments';
    problems.unshift({ path: 'arguments', message });
  }
  return { arguments: {}, problems };
}

/** `{arguments: {…}}` inside of `arguments` is the object meant, unless the tool has a parameter of that name. */
function unnested(args: JsonObject, declared: ReadonlySet<string> | undefined): JsonObject {
  const inner = args['arguments'];
  const isNested = isObject(inner) && Object.keys(args).length === 1 && declared?.has('arguments') === false;
  return isNested ? inner : args;
}
