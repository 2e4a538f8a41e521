import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeeperThan, type JsonValue } from '../kernel/json.js';
import { createRedaction } from './redaction.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';
import { codePoint } from '../../test/support/any-text.js';

const redactArguments = createRedaction().stored;

const SECRET_NAMES = [
  'authorization',
  'Authorization',
  'access_token',
  'TOKEN',
  'clientSecret',
  'password',
  'Passwd',
  'Set-Cookie',
  'apiKey',
  'api_key',
  'API-KEY',
  'privateKey',
  'private_key',
  'awsCredentials',
];

/** JSON with names and sizes that reach every branch. */
const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 12, depthSize: 'small' },
    fc.oneof(
      fc.string({ unit: codePoint, maxLength: 30 }),
      fc.string({ unit: codePoint, minLength: 190, maxLength: 400 }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
    ) as fc.Arbitrary<JsonValue>,
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(
      fc.oneof(
        fc.string({ unit: codePoint, maxLength: 8 }),
        fc.constantFrom(...SECRET_NAMES, '__proto__', 'constructor', '…', '1'),
        fc.string({ minLength: 195, maxLength: 300 }),
      ),
      tie('value'),
      { maxKeys: 6 },
    ) as fc.Arbitrary<JsonValue>,
  ),
})).value;

describe('redactArguments', () => {
  it('EXEC-5 NEG-6 masks every field that looks secret, in any case, at any depth', () => {
    for (const name of SECRET_NAMES) {
      for (const value of ['s3cr3t-value', { nested: 's3cr3t-value' }, ['s3cr3t-value'], 123456]) {
        expect(redactArguments({ a: [{ [name]: value }] })).toEqual({ a: [{ [name]: '***' }] });
      }
    }
  });

  it('EXEC-5 leaves ordinary arguments as they are', () => {
    const value = { path: '/tmp/x', count: 3, deep: { list: [1, null, true, 'text'] }, key: 'PROJ-1', author: 'ada' };
    expect(redactArguments(value)).toEqual(value);
  });

  it('EXEC-5 cuts long texts and notes their length', () => {
    const text = redactArguments('x'.repeat(5000)) as string;
    expect(text).toHaveLength(200);
    expect(text).toMatch(/^x+… \[5000 characters\]$/);
    expect(redactArguments('x'.repeat(200))).toBe('x'.repeat(200));
    for (const start of ['', 'x']) {
      expect(() => encodeURIComponent(redactArguments(start + '😀'.repeat(500)) as string)).not.toThrow();
    }
  });

  it('EXEC-5 A28 bounds width, depth and size', () => {
    expect(redactArguments(Array.from({ length: 1000 }, (_, i) => i))).toHaveLength(50);
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]));
    expect(Object.keys(redactArguments(wide) as object)).toHaveLength(50);
    let deep: JsonValue = 'bottom';
    for (let level = 0; level < 50_000; level++) deep = level % 2 ? [deep] : { deep };
    expect(isDeeperThan(redactArguments(deep), 9)).toBe(false);
    const row = Array.from({ length: 50 }, () => 'y'.repeat(200));
    expect(JSON.stringify(redactArguments(Array.from({ length: 50 }, () => row))).length).toBeLessThan(20_000);
  });

  it('EXEC-5 A27 a field named __proto__ is data', () => {
    const redacted = redactArguments(JSON.parse('{"__proto__":{"token":"s3cr3t"},"constructor":1}'));
    expect(JSON.stringify(redacted)).toBe('{"__proto__":{"token":"***"},"constructor":1}');
    expect(({} as Record<string, unknown>)['token']).toBeUndefined();
  });

  it('EXEC-5 takes what is not JSON as well', () => {
    const circular: Record<string, unknown> = { big: 10n, none: undefined, call: () => 1, not: Number.NaN };
    circular['self'] = circular;
    const redacted = redactArguments(circular as never);
    expect(JSON.parse(JSON.stringify(redacted))).toMatchObject({ big: '10', call: null, not: null });
  });

  it('EXEC-5 R15 is total and idempotent', COMPUTES_LONG, () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const once = JSON.stringify(redactArguments(value));
        expect(once.length).toBeLessThan(200_000);
        expect(JSON.stringify(redactArguments(JSON.parse(once)))).toBe(once);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  it('EXEC-5 R15 idempotent also where the size runs out', COMPUTES_LONG, () => {
    const text = fc.string({ minLength: 100, maxLength: 250 });
    const rows = fc.array(fc.array(fc.oneof(text, fc.dictionary(text, text, { maxKeys: 5 })), { maxLength: 55 }), {
      minLength: 3,
      maxLength: 55,
    });
    fc.assert(
      fc.property(rows, (value) => {
        const once = JSON.stringify(redactArguments(value as JsonValue));
        expect(JSON.stringify(redactArguments(JSON.parse(once)))).toBe(once);
      }),
      { numRuns: 100 },
    );
  });

  it('EXEC-5 R15 no secret survives, wherever it stands', () => {
    const canary = 'c4n4ry-c4n4ry';
    fc.assert(
      fc.property(
        fc.constantFrom(...SECRET_NAMES),
        fc.array(fc.string(), { maxLength: 12 }),
        anyJson,
        (name, path, more) => {
          let value: JsonValue = { [name]: { inner: [canary] }, more };
          for (const step of path) value = { [step]: value };
          expect(JSON.stringify(redactArguments(value))).not.toContain(canary);
        },
      ),
      { numRuns: repetitions(100, 500) },
    );
  });
});
