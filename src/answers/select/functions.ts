import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { SelectRunError } from './expression.js';

/** An expression passed to a function with `&`; it returns the value for an item. */
export type Reference = (item: JsonValue) => JsonValue;

/** What a function is given: values, and references where they are expected. */
export interface Inputs {
  readonly name: string;
  readonly values: readonly JsonValue[];
  readonly references: ReadonlyArray<Reference | undefined>;
  /** Pays for work in proportion to it. */
  spend(amount: number): void;
}

/** A function of JMESPath, and how many arguments it takes. */
export interface SelectFunction {
  readonly least: number;
  readonly most: number;
  run(inputs: Inputs): JsonValue;
}

/** The name that JMESPath has for the type of a value. */
function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function wrongType({ name, values }: Inputs, at: number, expected: string): never {
  throw new SelectRunError(`${name}() needs ${expected}, and got ${typeName(values[at]!)}`);
}

function list(inputs: Inputs, at: number): JsonValue[] {
  const value = inputs.values[at];
  return Array.isArray(value) ? value : wrongType(inputs, at, 'an array');
}

function text(inputs: Inputs, at: number): string {
  const value = inputs.values[at];
  return typeof value === 'string' ? value : wrongType(inputs, at, 'a string');
}

function number(inputs: Inputs, at: number): number {
  const value = inputs.values[at];
  return typeof value === 'number' ? value : wrongType(inputs, at, 'a number');
}

function object(inputs: Inputs, at: number): JsonObject {
  const value = inputs.values[at]!;
  return isObject(value) ? value : wrongType(inputs, at, 'an object');
}

function numbers(inputs: Inputs): number[] {
  const all = list(inputs, 0);
  inputs.spend(all.length);
  return all.every((each) => typeof each === 'number')
    ? (all as number[])
    : wrongType(inputs, 0, 'an array of numbers');
}

/** Numbers or texts, all of one type: what has an order. */
function ordered(inputs: Inputs, all: readonly JsonValue[]): Array<number | string> {
  inputs.spend(all.length);
  const type = typeof all[0];
  if (all.length > 0 && type !== 'number' && type !== 'string') wrongOrder(inputs, typeName(all[0]!));
  if (all.some((each) => typeof each !== type)) wrongOrder(inputs, 'values of several types');
  return all as Array<number | string>;
}

function wrongOrder({ name }: Inputs, found: string): never {
  throw new SelectRunError(`${name}() needs numbers or strings, all of one type, and got ${found}`);
}

/** Pays for comparing two texts; other values cost nothing beyond the step that reads them. */
export function spendComparison(a: JsonValue, b: JsonValue, spend: Inputs['spend']): void {
  if (typeof a === 'string' && typeof b === 'string') spend(Math.min(a.length, b.length) / 32);
}

/** The names of an object, paid for: to list one takes as long as two steps. */
export function namesOf(value: JsonObject, spend: Inputs['spend']): string[] {
  const names = Object.keys(value);
  spend(2 * names.length);
  return names;
}

function before({ spend }: Inputs, a: number | string, b: number | string): number {
  spendComparison(a, b, spend);
  return a < b ? -1 : a > b ? 1 : 0;
}

function keysOf(inputs: Inputs, items: readonly JsonValue[]): Array<number | string> {
  const reference = inputs.references[1];
  if (!reference) throw new SelectRunError(`${inputs.name}() needs an expression such as &name as its second argument`);
  return ordered(inputs, items.map(reference));
}

/** The item with the largest or smallest key; the first of equal ones. */
function best(inputs: Inputs, sign: 1 | -1): JsonValue {
  const items = list(inputs, 0);
  const keys = keysOf(inputs, items);
  let at = 0;
  for (let next = 1; next < keys.length; next++) if (sign * before(inputs, keys[next]!, keys[at]!) > 0) at = next;
  return items[at] ?? null;
}

function extreme(inputs: Inputs, sign: 1 | -1): JsonValue {
  const all = ordered(inputs, list(inputs, 0));
  let found: JsonValue = all[0] ?? null;
  for (const each of all) if (sign * before(inputs, each, found as number | string) > 0) found = each;
  return found;
}

function spendSort(inputs: Inputs, count: number): void {
  inputs.spend(count * (1 + Math.ceil(Math.log2(count + 1))));
}

function contains(inputs: Inputs): JsonValue {
  const [subject, sought] = inputs.values as [JsonValue, JsonValue];
  if (typeof subject === 'string') {
    if (typeof sought !== 'string') return false;
    // The search of the engine compares every letter at every place in the worst case.
    const places = Math.max(0, subject.length - sought.length + 1);
    inputs.spend(Math.max(subject.length / 16, (places * sought.length) / 64));
    return subject.includes(sought);
  }
  const all = Array.isArray(subject) ? subject : wrongType(inputs, 0, 'a string or an array');
  inputs.spend(all.length);
  return all.some((each) => {
    spendComparison(each, sought, inputs.spend);
    return each === sought;
  });
}

function lengthOf(inputs: Inputs): JsonValue {
  const value = inputs.values[0]!;
  if (typeof value === 'string') {
    inputs.spend(value.length / 16);
    let count = 0;
    for (const _ of value) count++;
    return count;
  }
  if (Array.isArray(value)) return value.length;
  if (!isObject(value)) return wrongType(inputs, 0, 'a string, an array or an object');
  return namesOf(value, inputs.spend).length;
}

function reversed(inputs: Inputs): JsonValue {
  const value = inputs.values[0];
  if (typeof value === 'string') {
    inputs.spend(value.length);
    return [...value].toReversed().join('');
  }
  const all = Array.isArray(value) ? value : wrongType(inputs, 0, 'a string or an array');
  inputs.spend(all.length);
  return all.toReversed();
}

function toText(inputs: Inputs): JsonValue {
  const value = inputs.values[0]!;
  if (typeof value === 'string') return value;
  // Paid before it is written: a value that holds one part many times is small in memory and large as text.
  const stack: JsonValue[] = [value];
  while (stack.length > 0) {
    const next = stack.pop()!;
    inputs.spend(typeof next === 'string' ? 1 + next.length / 4 : 1);
    if (Array.isArray(next)) for (const item of next) stack.push(item);
    else if (isObject(next)) {
      for (const name of namesOf(next, inputs.spend)) stack.push(name, next[name]!);
    }
  }
  return JSON.stringify(value);
}

function toNumber({ values: [value], spend }: Inputs): JsonValue {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  spend(value.length / 16);
  if (value.trim() === '') return null;
  const read = Number(value);
  return Number.isFinite(read) ? read : null;
}

function merged(inputs: Inputs): JsonValue {
  const result: JsonObject = {};
  inputs.values.forEach((_, at) => {
    const part = object(inputs, at);
    for (const key of namesOf(part, inputs.spend)) define(result, key, part[key]!);
  });
  return result;
}

/** Sets a member of an object; `__proto__` is a name like any other. */
export function define(target: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function joined(inputs: Inputs): JsonValue {
  const glue = text(inputs, 0);
  const all = list(inputs, 1);
  if (!all.every((each) => typeof each === 'string')) wrongType(inputs, 1, 'an array of strings');
  // Paid before it is written: a list of one long text many times is short in memory and long when joined.
  let length = 0;
  for (const each of all as string[]) length += each.length + glue.length;
  inputs.spend(all.length + length / 16);
  return all.join(glue);
}

function mapped(inputs: Inputs): JsonValue {
  const reference = inputs.references[0];
  if (!reference) throw new SelectRunError('map() needs an expression such as &name as its first argument');
  const all = list(inputs, 1);
  inputs.spend(all.length);
  return all.map(reference);
}

function sortedBy(inputs: Inputs): JsonValue {
  const all = list(inputs, 0);
  const keys = keysOf(inputs, all);
  spendSort(inputs, all.length);
  return all
    .map((_, at) => at)
    .sort((a, b) => before(inputs, keys[a]!, keys[b]!))
    .map((at) => all[at]!);
}

function sorted(inputs: Inputs): JsonValue {
  const all = ordered(inputs, list(inputs, 0));
  spendSort(inputs, all.length);
  return all.toSorted((a, b) => before(inputs, a, b));
}

/** The two texts of a function that compares the second with a part of the first, paid for. */
function textPair(inputs: Inputs): [subject: string, sought: string] {
  const [subject, sought] = [text(inputs, 0), text(inputs, 1)];
  inputs.spend(Math.min(subject.length, sought.length) / 16);
  return [subject, sought];
}

function endsWith(inputs: Inputs): JsonValue {
  const [subject, sought] = textPair(inputs);
  return subject.endsWith(sought);
}

function startsWith(inputs: Inputs): JsonValue {
  const [subject, sought] = textPair(inputs);
  return subject.startsWith(sought);
}

function valuesOf(inputs: Inputs): JsonValue {
  const value = object(inputs, 0);
  return namesOf(value, inputs.spend).map((name) => value[name]!);
}

const sumOf = (all: readonly number[]): number => all.reduce((sum, each) => sum + each, 0);

const RUNS: Readonly<Record<string, readonly [count: number, run: SelectFunction['run']]>> = {
  abs: [1, (inputs) => Math.abs(number(inputs, 0))],
  avg: [
    1,
    (inputs) => {
      const all = numbers(inputs);
      return all.length === 0 ? null : sumOf(all) / all.length;
    },
  ],
  ceil: [1, (inputs) => Math.ceil(number(inputs, 0))],
  contains: [2, contains],
  ends_with: [2, endsWith],
  floor: [1, (inputs) => Math.floor(number(inputs, 0))],
  join: [2, joined],
  keys: [1, (inputs) => namesOf(object(inputs, 0), inputs.spend)],
  length: [1, lengthOf],
  map: [2, mapped],
  max: [1, (inputs) => extreme(inputs, 1)],
  max_by: [2, (inputs) => best(inputs, 1)],
  min: [1, (inputs) => extreme(inputs, -1)],
  min_by: [2, (inputs) => best(inputs, -1)],
  reverse: [1, reversed],
  sort: [1, sorted],
  sort_by: [2, sortedBy],
  starts_with: [2, startsWith],
  sum: [1, (inputs) => sumOf(numbers(inputs))],
  to_array: [1, ({ values: [value] }) => (Array.isArray(value) ? value : [value!])],
  to_number: [1, toNumber],
  to_string: [1, toText],
  type: [1, ({ values: [value] }) => typeName(value!)],
  values: [1, valuesOf],
};

/** The functions of the JMESPath specification, by name. */
export const FUNCTIONS: ReadonlyMap<string, SelectFunction> = new Map([
  ...Object.entries(RUNS).map(([name, [count, run]]): [string, SelectFunction] => [
    name,
    { least: count, most: count, run },
  ]),
  ['merge', { least: 1, most: Infinity, run: merged }],
  ['not_null', { least: 1, most: Infinity, run: ({ values }) => values.find((each) => each !== null) ?? null }],
]);
