import { describe, expect, it } from 'vitest';
import { sha256 } from '../kernel/hash.js';
import type { JsonObject } from '../kernel/json.js';
import { decodeRecord, encodeRecord, type TrustRecord } from './record.js';

const RULING = { by: 'ann', at: 3, reason: 'read it' };
const RECORD: TrustRecord = {
  version: 4,
  server: 'notes',
  launch: 'l',
  origin: 'project',
  target: 'npx notes',
  start: { trust: { hash: 'a', at: 1, ruling: RULING } },
  presentation: {
    ask: {
      hash: 'b',
      at: 2,
      state: 'rejected',
      risk: { level: 'high', reasons: ['deletes'], informs: [] },
      changed: ['description'],
      ruling: RULING,
      confirmedAt: 1,
    },
  },
  tools: new Map([['__proto__', { trust: { hash: 'c', at: 1 } }]]),
  past: [{ about: 'tool', tool: 'x', hash: 'd', at: 1, was: 'trusted', ruling: RULING }],
};

/** The record as another program would write it, with a right checksum, and one value changed. */
function changed(path: string, value: unknown): JsonObject {
  const written = JSON.parse(String(encodeRecord(RECORD)['body'])) as JsonObject;
  const keys = path.split('.');
  const last = keys.pop()!;
  const place = keys.reduce((here, key) => here[key] as Record<string, unknown>, written as Record<string, unknown>);
  place[last] = value;
  const body = JSON.stringify(written);
  return { format: 1, sum: sha256(body), body };
}

describe('a record of trust', () => {
  it('SEC-9 is read as it was written', () => {
    expect(decodeRecord(encodeRecord(RECORD))).toEqual({ record: RECORD });
    const { was: _was, ruling: _ruling, ...older } = RECORD.past[0]!;
    expect(decodeRecord(encodeRecord({ ...RECORD, past: [older] }))).toHaveProperty('record');
  });

  it.each<[string, unknown]>([
    ['version', 1e300],
    ['version', 1.5],
    ['origin', 'elsewhere'],
    ['target', null],
    ['start.trust.ruling', { by: 5, at: 1 }],
    ['start.trust.ruling.reason', {}],
    ['presentation.ask.risk.level', '__proto__'],
    ['presentation.ask.risk.reasons', [null]],
    ['presentation.ask.risk.informs', 'all'],
    ['presentation.ask.changed', [5]],
    ['presentation.ask.confirmedAt', '1'],
    ['tools.0', ['x', { trust: { hash: 5, at: 1 } }]],
    ['past.0.about', 'all'],
    ['past.0.hash', undefined],
    ['past.0.was', 'forged'],
    ['past.0.tool', {}],
    ['past.0.ruling.by', null],
  ])('SEC-9 A48 is damaged when %s is %j, so that it hides no other', (path, value) => {
    expect(decodeRecord(changed(path, value))).toEqual({ unreadable: 'damaged' });
  });
});
