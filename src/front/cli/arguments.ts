import { InvalidArgumentError } from 'commander';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject, JsonValue } from '../../kernel/json.js';
import type { Parameter } from '../../model/tool.js';

/** Types whose values are written as plain text. */
function readValue(text: string, type: string): JsonValue {
  const types = new Set(type.split('|').map((each) => each.trim()));
  if (types.has('string') || type === '') return text;
  if ((types.has('number') || types.has('integer')) && text.trim() !== '' && Number.isFinite(Number(text))) {
    return Number(text);
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('null') && text === 'null') return null;
  const isList = type.endsWith('[]');
  try {
    const value = JSON.parse(text) as JsonValue;
    return !isList || Array.isArray(value) ? value : type === 'string[]' ? text.split(',') : [value];
  } catch {
    // A list of texts may be written with commas; everything else stays text and is left to the
    // validation, which knows the schema and names the path.
    return isList ? text.split(',') : text;
  }
}

/** The value of a flag that counts something. */
export function wholeNumber(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number from 1.');
  return number;
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
    if (pair[equals - 1] !== ':')
      return [pair.slice(0, equals), readValue(value, types.get(pair.slice(0, equals)) ?? '')];
    try {
      return [pair.slice(0, equals - 1), JSON.parse(value) as JsonValue];
    } catch (thrown) {
      throw new ToolscoutError(
        'INVALID_REQUEST',
        `The value of "${pair.slice(0, equals - 1)}" is not JSON: ${messageOf(thrown)}`,
      );
    }
  });
  return Object.fromEntries(entries);
}
