import { describe, expect, it } from 'vitest';
import { partsOf, saysOnly, tableOf } from './result-parts.js';

const text = (value: string) => ({ type: 'text', text: value });

describe('partsOf', () => {
  it('STUDIO-1 shows text as text, JSON as a tree and equal records as a table', () => {
    expect(partsOf({ content: [text('hello')] })).toEqual([{ kind: 'text', text: 'hello' }]);
    expect(partsOf({ content: [text('{"a":{"b":1}}')] })).toEqual([{ kind: 'json', value: { a: { b: 1 } } }]);
    expect(partsOf({ content: [text('[{"a":1},{"a":2,"b":3}]')] })).toMatchObject([
      { kind: 'table', columns: ['a', 'b'] },
    ]);
    expect(partsOf({ content: [text('{broken')] })).toEqual([{ kind: 'text', text: '{broken' }]);
  });

  it('STUDIO-1 shows structured content once', () => {
    expect(
      partsOf({ structuredContent: { rows: [{ a: 1 }] }, content: [text('{"rows":[{"a":1}]}'), text('more')] }),
    ).toMatchObject([
      { kind: 'table', columns: ['a'] },
      { kind: 'text', text: 'more' },
    ]);
  });

  it('A17 shows pictures of pixels only; everything else is data', () => {
    const image = (mimeType: string, data = 'AAAA') => partsOf({ content: [{ type: 'image', data, mimeType }] })[0]!;
    expect(image('image/png')).toEqual({ kind: 'image', source: 'data:image/png;base64,AAAA', type: 'image/png' });
    for (const type of ['image/svg+xml', 'text/html', 'image/png,<script>', '']) expect(image(type).kind).toBe('note');
    expect(image('image/png', '"><script>').kind).toBe('note');
  });

  it('STUDIO-1 shows resources, unknown parts and empty results', () => {
    expect(partsOf({ content: [{ type: 'resource', resource: { uri: 'x:', text: 'inside' } }] })).toEqual([
      { kind: 'text', text: 'inside' },
    ]);
    expect(partsOf({ content: [{ type: 'audio', data: '' }, 5] })).toMatchObject([
      { kind: 'note' },
      { kind: 'json', value: 5 },
    ]);
    expect(partsOf({ content: [{}] })).toMatchObject([{ kind: 'note', text: expect.stringContaining('unknown type') }]);
    expect(partsOf({})).toEqual([{ kind: 'json', value: {} }]);
  });

  it('STUDIO-1 tells a result that only repeats the message of its failure', () => {
    expect(saysOnly({ isError: true, content: [text('no such city\n')] }, 'no such city')).toBe(true);
    expect(saysOnly({ content: [text('no such city'), text('try another')] }, 'no such city')).toBe(false);
    expect(saysOnly({ content: [text('{"code":5}')] }, '{"code":5}')).toBe(false);
    expect(saysOnly({}, '')).toBe(false);
  });

  it('STUDIO-1 makes no table of what is not one', () => {
    expect(
      [
        [],
        [1],
        [{}],
        [{ a: { b: 'x'.repeat(100) } }],
        { a: [{ b: 1 }], c: { d: 1 } },
        [{ a: 1 }, { b: 1 }, { c: 1 }],
      ].map((value) => tableOf(value as never)),
    ).toEqual(Array.from({ length: 6 }, () => undefined));
  });
});
