import { isObject, type JsonObject } from '../kernel/json.js';
import type { AuditRecord } from '../model/audit-record.js';
import { MAX_TIME } from './audit-sums.js';

/** Fields that every record has, and those that some have, by type. */
const TEXTS = ['id', 'kind', 'principal', 'outcome'] as const;
const MAYBE_TEXTS = 'route host skill server tool argumentsHash code message era traceId parent'.split(' ');
const MAYBE_NUMBERS = ['latencyMs', 'waitedMs', 'connectMs', 'askedMs', 'resultBytes'] as const;
const COUNTS = ['arguments', 'returned', 'withheld'] as const;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * Whether a stored value is a record. Any process of the store may have written the row: with a field of another type the page of records
 * that holds it could not be shown (A48). What a newer version may say in a field of the right type is its own affair.
 */
export function isRecord(value: unknown): value is AuditRecord & JsonObject {
  if (!isObject(value)) return false;
  const { time, tokens } = value;
  return (
    typeof time === 'number' &&
    Math.abs(time) <= MAX_TIME &&
    TEXTS.every((field) => typeof value[field] === 'string') &&
    MAYBE_TEXTS.every((field) => value[field] === undefined || typeof value[field] === 'string') &&
    MAYBE_NUMBERS.every((field) => value[field] === undefined || Number.isFinite(value[field])) &&
    (tokens === undefined || (isObject(tokens) && COUNTS.every((count) => isCount(tokens[count]))))
  );
}
