import * as z from 'zod';
import type { Problem } from '../../kernel/errors.js';
import { nearestNames, oneLine, printable } from '../../kernel/text.js';
import { joinPath, problemAt, valueAt } from '../read/path.js';
import { expectation, isQuotable, keysOf, schemasAt, type Schema } from './shape.js';

type Issue = z.core.$ZodIssue;

/** What a value is, in words; the value itself only when `quote` allows it. */
export function describeValue(value: unknown, quote = false): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  switch (typeof value) {
    case 'string':
      return quote ? `the string ${JSON.stringify(oneLine(printable(value), 40))}` : 'a string';
    case 'number':
      return quote ? String(value) : 'a number';
    case 'boolean':
      return String(value);
    case 'object':
      return 'an object';
    default:
      return `a ${typeof value}`;
  }
}

/** The problem of an unknown key, with the nearest known one. */
function unknownKey(path: string, key: string, known: readonly string[]): Problem {
  const [nearest] = nearestNames(key, known, 1);
  const hint = nearest === undefined ? `expected one of ${known.join(', ')}` : `did you mean "${nearest}"?`;
  return problemAt(joinPath(path, key), `unknown key; ${hint}`);
}

interface CheckedValue {
  readonly schema: Schema;
  readonly value: unknown;
  readonly base: string;
  /** Keys that are known at the root besides those of the schema. */
  readonly extraKeys: readonly string[];
}

/** For an invalid member of a union, report the alternative that it resembles, not all of them. */
function resembled(errors: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const without = (...codes: ReadonlyArray<Issue['code']>): readonly Issue[] | undefined =>
    errors.find((issues) => !issues.some((issue) => issue.path.length === 0 && codes.includes(issue.code)));
  return without('invalid_type', 'invalid_value') ?? without('invalid_type');
}

function boundMessage(issue: Issue, found: string): string {
  if (issue.code === 'too_small') {
    if (issue.origin === 'string' || issue.origin === 'array') return 'must not be empty';
    return `expected ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}, found ${found}`;
  }
  return issue.code === 'too_big' ? `expected at most ${issue.maximum}, found ${found}` : issue.message;
}

/** The fixed word that was probably meant. */
function nearestValue(value: unknown, allowed: readonly unknown[]): string {
  const words = allowed.filter((each) => typeof each === 'string');
  const [nearest] = typeof value === 'string' ? nearestNames(value, words, 1) : [];
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

function explain(issue: Issue, keys: readonly PropertyKey[], checked: CheckedValue): Problem[] {
  const path = joinPath(checked.base, ...keys);
  const schemas = schemasAt(checked.schema, keys);
  if (issue.code === 'unrecognized_keys') {
    const known = [...keysOf(schemas), ...(keys.length === 0 ? checked.extraKeys : [])];
    return issue.keys.map((key) => unknownKey(path, key, known));
  }
  if (issue.code === 'invalid_union') {
    const chosen = resembled(issue.errors);
    if (chosen) return chosen.flatMap((inner) => explain(inner, [...keys, ...inner.path], checked));
  }
  const value = valueAt(checked.value, keys);
  const found = describeValue(value, isQuotable(schemas));
  if (issue.code === 'too_small' || issue.code === 'too_big') return [problemAt(path, boundMessage(issue, found))];
  // What the schema itself says is more exact than its type.
  if (issue.code === 'custom') return [problemAt(path, issue.message)];
  if (issue.code === 'invalid_format' && issue.format === 'regex') return [problemAt(path, issue.message)];
  if (value === undefined) return [problemAt(path, `is missing; expected ${expectation(schemas)}`)];
  const words = schemas.flatMap((schema) =>
    schema instanceof z.ZodEnum ? schema.options : schema instanceof z.ZodLiteral ? [...schema.values] : [],
  );
  const hint = nearestValue(value, words);
  return [problemAt(path, `expected ${expectation(schemas)}, found ${found}${hint}`)];
}

/** Every complaint of the schema about a value, in words and without repeating values that may be secret. */
export function explainIssues(issues: readonly Issue[], checked: CheckedValue): Problem[] {
  return issues.flatMap((issue) => explain(issue, issue.path, checked));
}
