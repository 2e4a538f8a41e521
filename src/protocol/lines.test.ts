import * as fc from 'fast-check';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLineReader, createLineWriter, isMessage, type LineWriter } from './lines.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { codePoint } from '../../test/support/any-text.js';

describe('createLineReader', () => {
  it('CONN-1 gives the same lines however the bytes are cut', COMPUTES_LONG, () => {
    const anyText = fc.string({ unit: codePoint, maxLength: 40 }).map((text) => text.replaceAll('\n', ''));
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

  it('CONN-1 takes a byte order mark off a line, and gives what has no line end once', () => {
    const seen: string[] = [];
    const reader = createLineReader(100, (line) => seen.push(line));
    const bytes = Buffer.from('\ufeffone\ntwo\ufeff\n\ufeffthree');
    for (const byte of bytes) reader.take(Buffer.from([byte]));
    expect(seen).toEqual(['one', 'two\ufeff']);
    expect([reader.rest(), reader.rest()]).toEqual(['three', '']);
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

describe('isMessage', () => {
  it.each([
    [true, { jsonrpc: '2.0', id: 1, result: {} }],
    [true, { jsonrpc: '2.0', id: 'a', error: { code: 1, message: 'x' } }],
    [true, { jsonrpc: '2.0', method: 'notifications/x' }],
    [true, { jsonrpc: '2.0', id: 0, method: 'x', params: {} }],
    [false, { id: 1, result: {} }],
    [false, { jsonrpc: '2.0' }],
    [false, { jsonrpc: '2.0', id: 1 }],
    [false, { jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' } }],
    [false, { jsonrpc: '2.0', id: {}, method: 'x' }],
    [false, { jsonrpc: '2.0', method: 1 }],
    [false, { jsonrpc: '2.0', method: 'x', params: [] }],
    [true, { jsonrpc: '2.0', id: 1, error: 'text' }],
    [false, []],
    [false, null],
    [false, 42],
  ])('S22 %s for %j', (expected, value) => {
    expect(isMessage(value)).toBe(expected);
  });
});

describe('createLineWriter', () => {
  /** A pipe that keeps what each write brought, or fails. */
  function pipe(broken?: Error): { stream: Writable; writes: string[] } {
    const writes: string[] = [];
    const stream = new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        if (broken) return done(broken);
        writes.push(chunk);
        done();
      },
    });
    stream.on('error', () => {});
    return { stream, writes };
  }

  it('CONN-1 the lines of one turn leave together, in order, and those of the next by themselves', async () => {
    const { stream, writes } = pipe();
    const writer = createLineWriter(stream);
    const later = Promise.resolve().then(() => writer.write('c\n'));
    await Promise.all([writer.write('a\n'), writer.write('b\n'), later]);
    await writer.write('d\n');
    expect(writes).toEqual(['a\nb\nc\n', 'd\n']);
    await Promise.all(['1\n', '2\n', '3\n', '4\n', '5\n'].map((line) => writer.write(line)));
    expect(writes.slice(2)).toEqual(['1\n2\n3\n4\n', '5\n']);
    expect(writer.waiting).toBe(0);
  });

  it('CONN-1 much is not held back, and a flush waits for nothing', async () => {
    const { stream, writes } = pipe();
    const writer = createLineWriter(stream);
    const long = `${'x'.repeat(70_000)}\n`;
    const written = [writer.write('a\n'), writer.write(long), writer.write('b\n')];
    expect(writes).toEqual([`a\n${long}`]);
    writer.flush();
    expect(writes).toEqual([`a\n${long}`, 'b\n']);
    await Promise.all(written);
    writer.flush();
    expect(writes).toHaveLength(2);
  });

  it('CONN-7 a failed write reports whether it held a single line', async () => {
    const broken = (): LineWriter => createLineWriter(pipe(new Error('EPIPE')).stream);
    await expect(broken().write('a\n')).rejects.toMatchObject({ message: 'EPIPE', alone: true });
    const writer = broken();
    const both = await Promise.allSettled([writer.write('a\n'), writer.write('b\n')]);
    expect(both).toMatchObject([{ reason: { alone: false } }, { reason: { alone: false } }]);
  });
});
