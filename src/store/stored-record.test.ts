import { describe, expect, it } from 'vitest';
import { isRecord } from './stored-record.js';

const RECORD = { id: 'a', time: 1, kind: 'execution', principal: 'p', outcome: 'success' };

describe('a stored record', () => {
  it.each<[string, object]>([
    ['no text in a field of text', { server: 5 }],
    ['null in a field of text', { message: null }],
    ['no number in a field of numbers', { latencyMs: 'x' }],
    ['a time that is no date', { time: 1e300 }],
    ['tokens that are no counts', { tokens: { arguments: -1, returned: 0, withheld: 0 } }],
    ['tokens without a part', { tokens: { arguments: 1 } }],
    ['no caller', { principal: undefined }],
  ])('EXEC-5 A48 a value is no record with %s', (_what, fields) => {
    expect(isRecord(RECORD)).toBe(true);
    expect(isRecord({ ...RECORD, ...fields })).toBe(false);
  });

  it('EXEC-5 A48 R20 is one with what a newer version says', () => {
    expect(isRecord({ ...RECORD, kind: 'new', outcome: 'new', era: 'new', more: { any: 1 } })).toBe(true);
    const tokens = { arguments: 1, returned: 2, withheld: 0 };
    expect(isRecord({ ...RECORD, tokens, latencyMs: 0.5, detail: null, arguments: null })).toBe(true);
  });
});
