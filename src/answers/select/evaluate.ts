import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { SelectRunError, type Expression } from './expression.js';
import { define, FUNCTIONS, namesOf, spendComparison, type Reference } from './functions.js';

/** What an evaluation may cost: steps, about one for each value that is looked at. */
export interface Fuel {
  spend(amount: number): void;
}

/** Fuel for so many steps. */
export function createFuel(steps: number): Fuel {
  let left = steps;
  return {
    spend(amount) {
      left -= amount;
      if (left < 0) throw new SelectRunError('it takes too many steps; select less at once');
    },
  };
}

/** What counts as false: nothing, `false`, and what is empty. */
function isFalse(value: JsonValue, { spend }: Fuel): boolean {
  if (value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && namesOf(value, spend).length === 0;
}

function areEqual(a: JsonValue, b: JsonValue, fuel: Fuel): boolean {
  fuel.spend(1);
  spendComparison(a, b, fuel.spend);
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((each, at) => areEqual(each, b[at]!, fuel));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = namesOf(a, fuel.spend);
  if (keys.length !== namesOf(b, fuel.spend).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && areEqual(a[key] ?? null, b[key] ?? null, fuel));
}

function compare(operator: string, a: JsonValue, b: JsonValue, fuel: Fuel): JsonValue {
  if (operator === '==') return areEqual(a, b, fuel);
  if (operator === '!=') return !areEqual(a, b, fuel);
  // Only numbers have an order; two texts have one too, which helps with dates.
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string')) return null;
  spendComparison(a, b, fuel.spend);
  const [left, right] = [a, b as typeof a];
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}

/** The item of a list, counted from its end when the index is negative. */
function itemAt(value: JsonValue, index: number): JsonValue {
  return Array.isArray(value) ? (value.at(index) ?? null) : null;
}

function sliceOf(value: JsonValue, { start, stop, step }: Extract<Expression, { kind: 'slice' }>): JsonValue {
  if (!Array.isArray(value)) return null;
  const { length } = value;
  const bound = (at: number | undefined, whole: number): number => {
    if (at === undefined) return whole;
    const counted = at < 0 ? at + length : at;
    return Math.min(Math.max(counted, step < 0 ? -1 : 0), step < 0 ? length - 1 : length);
  };
  const from = bound(start, step < 0 ? length - 1 : 0);
  const to = bound(stop, step < 0 ? -1 : length);
  const items: JsonValue[] = [];
  for (let at = from; step > 0 ? at < to : at > to; at += step) items.push(value[at]!);
  return items;
}

/** Applies an expression to a value. */
export function evaluate(expression: Expression, value: JsonValue, fuel: Fuel): JsonValue {
  fuel.spend(1);
  switch (expression.kind) {
    case 'current':
      return value;
    case 'literal':
      return expression.value;
    case 'field':
      return isObject(value) && Object.hasOwn(value, expression.name) ? (value[expression.name] ?? null) : null;
    case 'index':
      return itemAt(value, expression.index);
    case 'slice':
      fuel.spend(Array.isArray(value) ? value.length : 0);
      return sliceOf(value, expression);
    case 'then':
      return evaluate(expression.right, evaluate(expression.left, value, fuel), fuel);
    case 'each': {
      const left = evaluate(expression.left, value, fuel);
      return Array.isArray(left) ? project(left, expression.right, fuel) : null;
    }
    case 'values': {
      const left = evaluate(expression.left, value, fuel);
      return isObject(left) ? project(Object.values(left) as JsonValue[], expression.right, fuel) : null;
    }
    case 'flatten': {
      const of = evaluate(expression.of, value, fuel);
      return Array.isArray(of) ? flat(of, fuel) : null;
    }
    case 'filter': {
      const left = evaluate(expression.left, value, fuel);
      if (!Array.isArray(left)) return null;
      const kept = left.filter((item) => !isFalse(evaluate(expression.test, item, fuel), fuel));
      return project(kept, expression.right, fuel);
    }
    case 'compare': {
      const left = evaluate(expression.left, value, fuel);
      return compare(expression.operator, left, evaluate(expression.right, value, fuel), fuel);
    }
    case 'or': {
      const left = evaluate(expression.left, value, fuel);
      return isFalse(left, fuel) ? evaluate(expression.right, value, fuel) : left;
    }
    case 'and': {
      const left = evaluate(expression.left, value, fuel);
      return isFalse(left, fuel) ? left : evaluate(expression.right, value, fuel);
    }
    case 'not':
      return isFalse(evaluate(expression.of, value, fuel), fuel);
    case 'list':
      return value === null ? null : expression.items.map((item) => evaluate(item, value, fuel));
    case 'object': {
      if (value === null) return null;
      const made: JsonObject = {};
      for (const [name, member] of expression.members) define(made, name, evaluate(member, value, fuel));
      return made;
    }
    case 'call':
      return call(expression, value, fuel);
    case 'reference':
      throw new SelectRunError('"&" is only for arguments of functions that take an expression');
  }
}

/** The right side on each item, without those that give nothing. */
function project(items: readonly JsonValue[], right: Expression, fuel: Fuel): JsonValue[] {
  fuel.spend(items.length);
  const results: JsonValue[] = [];
  for (const item of items) {
    const result = evaluate(right, item, fuel);
    if (result !== null) results.push(result);
  }
  return results;
}

function flat(items: readonly JsonValue[], fuel: Fuel): JsonValue[] {
  const result: JsonValue[] = [];
  for (const item of items) {
    fuel.spend(Array.isArray(item) ? item.length + 1 : 1);
    if (Array.isArray(item)) for (const inner of item) result.push(inner);
    else result.push(item);
  }
  return result;
}

function call({ name, args }: Extract<Expression, { kind: 'call' }>, value: JsonValue, fuel: Fuel): JsonValue {
  const references = args.map((arg): Reference | undefined =>
    arg.kind === 'reference' ? (item) => evaluate(arg.of, item, fuel) : undefined,
  );
  const values = args.map((arg) => (arg.kind === 'reference' ? null : evaluate(arg, value, fuel)));
  return FUNCTIONS.get(name)!.run({ name, values, references, spend: (amount) => fuel.spend(amount) });
}
