import type { Problem } from '../../kernel/errors.js';
import { isDeeperThan, isObject } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { describeValue } from './issues.js';
import { joinPath, problemAt, ROOT } from '../read/path.js';

function isPlain(value: object): boolean {
  return Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]';
}

/**
 * What in a config is not plain data: code, dates, cycles, and the key `__proto__`, which some
 * reader further on might take for the prototype. Nothing else may look at the config before this.
 */
export function findForeignValues(raw: unknown): Problem[] {
  if (!isObject(raw) || !isPlain(raw)) {
    return [problemAt(ROOT, `expected an object with fields such as "servers", found ${describeValue(raw)}`)];
  }
  if (isDeeperThan(raw, LIMITS.depth)) {
    return [problemAt(ROOT, `is nested deeper than ${LIMITS.depth} levels, or contains itself`)];
  }
  const problems: Problem[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null && isPlain(value)) {
      for (const [key, child] of Object.entries(value)) {
        const below = joinPath(path, Array.isArray(value) ? Number(key) : key);
        if (key === '__proto__') problems.push(problemAt(below, 'this name is reserved; choose another'));
        else visit(child, below);
      }
    } else if (typeof value === 'object' ? value !== null : /^(function|symbol|bigint)$/.test(typeof value)) {
      problems.push(problemAt(path, `expected plain data, found ${describeValue(value)}`));
    }
  };
  visit(raw, ROOT);
  return problems;
}

/** A copy of a record without a prototype, so that a name such as `constructor` is found only when it is there. */
export function toDictionary<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.assign(Object.create(null) as Record<string, Value>, record);
}
