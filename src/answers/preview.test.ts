import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { previewResult } from './preview.js';
import { bulkOf, jsonOf } from './result-data.js';
import { shapeOfJson, shapeOfText } from './shape.js';
import { countLines, linesOf } from './text-lines.js';

const text = (value: string): JsonObject => ({ type: 'text', text: value });
const long = (word: string): string => `${word} and more\n`.repeat(400);

describe('previewResult', () => {
  it('ANS-1 names where to read on in the first block that is cut, also inside of a resource', () => {
    const resource: JsonObject = {
      type: 'resource',
      resource: { uri: 'a:b', mimeType: 'text/plain', text: long('in') },
    };
    const preview = previewResult({ content: [text('short'), resource, text(long('out'))] }, 600);
    expect(preview.next).toEqual({ path: 'content[1].resource.text', offset: expect.any(Number) });
    expect(preview.shape).toMatch(
      /^3 blocks: 0: text, 5 characters; 1: resource text\/plain, [\d,]+ characters; 2: text/,
    );
    expect(preview.text).toContain('[block 0, lines 0 to 0 of 1]\nshort');
    expect(previewResult({ content: [resource] }, 600).next).toEqual({ offset: expect.any(Number) });
  });

  it('ANS-1 names links, odd blocks and many blocks, and shows ten texts', () => {
    const link: JsonObject = { type: 'resource_link', uri: 'file:///a', mimeType: 'text/csv' };
    const odd = [7, { a: 1 }, { type: 'video', name: 'clip' }] as JsonValue[];
    expect(previewResult({ content: [link, ...odd] }, 600)).toEqual({
      shape: '4 blocks: 0: resource_link text/csv file:///a; 1: number; 2: block; 3: video clip',
      text: '',
      next: {},
    });
    const many = previewResult({ content: Array.from({ length: 3000 }, (_, at) => text(`block ${at}`)) }, 400);
    expect(many.shape).toMatch(/^3,000 blocks: 0: text, 7 characters; .*… [\d,]+ more$/);
    expect(many.text.match(/\[block /g)).toHaveLength(10);
    const crowded = previewResult({ content: [{ type: 'x'.repeat(40), uri: 'u'.repeat(500) }, link] }, 8);
    expect(crowded.shape).toBe('2 blocks: 2 blocks');
    expect(previewResult({ content: 'odd' }, 100)).toMatchObject({ text: '', next: {} });
  });

  it('ANS-1 shows what stands beside the bulk of JSON, and where the bulk is', () => {
    const rows = Array.from({ length: 500 }, (_, id) => ({ id, name: `thing ${id}` }));
    const page = previewResult(
      { content: [], structuredContent: { total: 500, data: [{ rows }], cursor: 'abc' } },
      600,
    );
    expect(page.text).toMatch(
      /^\{"total":500,"data":\[\{"rows":"\(shown below\)"\}\],"cursor":"abc"\}\n\[data\[0\]\.rows, items 0 to \d+ of 500\]/,
    );
    expect(page.next).toEqual({ path: 'data[0].rows', offset: expect.any(Number) });
    const tiny = previewResult({ content: [], structuredContent: { note: 'n'.repeat(300), rows } }, 60);
    expect(tiny.text).not.toContain('nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn');
  });
});

describe('the parts of a result', () => {
  it('ANS-1 JSON is the structured content, else the only text that is a list or an object', () => {
    expect(jsonOf({ structuredContent: { a: 1 }, content: [text('[2]')] })).toEqual({ a: 1 });
    expect(jsonOf({ structuredContent: null, content: [text(' [2]')] })).toEqual([2]);
    expect(jsonOf({ content: [text('[2]'), { type: 'image', data: '' }] })).toEqual([2]);
    for (const content of [
      [text('[2]'), text('x')],
      [text('2')],
      [text('[2')],
      [{ type: 'text', text: 2 }],
      'odd',
      [],
    ]) {
      expect(jsonOf({ content: content as JsonValue })).toBeUndefined();
    }
  });

  it('ANS-1 the bulk is the one member that most of a value consists of', () => {
    const big = 'x'.repeat(500);
    expect(bulkOf({ a: 1, b: { c: big, d: null } })).toEqual({ value: big, path: 'b.c' });
    expect(bulkOf([[big]])).toEqual({ value: [big], path: '[0]' });
    expect(bulkOf({ 'a-b': { c: [1, 2] } }).path).toMatch(/^"a-b"/);
    for (const value of [{}, [1, 2], { a: big, b: big }, 7, { a: 1, b: null }]) {
      expect(bulkOf(value)).toEqual({ value, path: '' });
    }
    const map = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`k${at}`, at === 7 ? big.repeat(9) : '']));
    expect(bulkOf(map).path).toBe('');
  });

  it('ANS-1 a shape says less where there is less room', () => {
    const value = {
      items: [
        { id: 1, name: 'a', tags: [] },
        { id: 2, extra: true },
      ],
      empty: {},
      none: null,
    };
    expect(shapeOfJson(value, 200)).toBe(
      '{items: [2 × {id: number, name?: string, tags?: [], extra?: boolean}], empty: {}, none: null}',
    );
    expect(shapeOfJson(value, 16)).not.toContain('extra');
    expect(shapeOfJson(value, 1)).toBe('object');
    expect(shapeOfJson([1, 'a', null], 1)).toBe('[3 items]');
  });

  it('ANS-1 the shape of a text names columns, or headings, the upper ones first', () => {
    const table = 'a|b\n1|2\n3|4\n5|6\n';
    expect(shapeOfText(table, 100)).toMatch(/a table with the columns a, b$/);
    expect(shapeOfText(table, 4)).toBe('text of 4 lines, 16 characters');
    const page = ['# One', ...Array.from({ length: 60 }, (_, at) => `## Part ${at} of it`), '```', '# no', '```'].join(
      '\n',
    );
    expect(shapeOfText(page, 2000)).toMatch(/0: One; 1: Part 0 of it; .*60: Part 59 of it$/);
    expect(shapeOfText(page, 40)).toMatch(/headings by line: 0: One$/);
    expect(shapeOfText(page, 10)).toMatch(/; 61 headings$/);
    expect(shapeOfText(`${'x'.repeat(80)},b\n`.repeat(5), 100)).not.toContain('columns');
  });

  it('ANS-1 lines end with either line break, and a long one counts as several', () => {
    const written = `a\r\n\nb\n${'c'.repeat(1999)}\u{1f600}${'d'.repeat(10)}`;
    const read = [...linesOf(written)];
    expect(read).toEqual(['a', '', 'b', 'c'.repeat(1999), `\u{1f600}${'d'.repeat(10)}`]);
    expect(countLines(written)).toBe(read.length);
  });
});
