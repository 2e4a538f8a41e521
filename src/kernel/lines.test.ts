import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineReader } from './lines.js';

describe('createLineReader', () => {
  it('CONN-1 gives the same lines however the bytes are cut', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\n', ''));
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 9 })), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const seen: string[] = [];
        const reader = createLineReader(1024, (line) => seen.push(line));
        let at = 0;
        for (const cut of cuts) {
          expect(reader.take(bytes.subarray(at, (at += cut)))).toBe(true);
        }
        expect(reader.take(bytes.subarray(at))).toBe(true);
        expect(seen).toEqual(lines.map((line) => Buffer.from(line).toString()));
      }),
    );
  });

  it('A28 refuses a line over the limit, whole or in pieces, and accepts one exactly at it', () => {
    const seen: number[] = [];
    const reader = createLineReader(10, (line) => seen.push(line.length));
    expect(reader.take(Buffer.from('1234567890\n'))).toBe(true);
    expect(reader.take(Buffer.from('12345'))).toBe(true);
    expect(reader.take(Buffer.from('67890\n'))).toBe(true);
    expect(reader.take(Buffer.from('12345'))).toBe(true);
    expect(reader.take(Buffer.from('678901'))).toBe(false);
    expect(createLineReader(10, (line) => seen.push(line.length)).take(Buffer.from('12345678901\n'))).toBe(false);
    expect(seen).toEqual([10, 10]);
  });
});
