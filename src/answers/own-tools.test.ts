import { describe, expect, it } from 'vitest';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { estimateResultTokens } from '../kernel/tokens.js';
import type { Viewer } from '../model/viewer.js';
import type { KeptResults } from './kept-results.js';
import { runOwnTool } from './own-tools.js';

const viewer: Viewer = { principal: 'ann', scopes: new Set(['call']), isLimited: false, sees: () => true };
const HANDLE = 'res_AAAAAAAAAAAAAAAAAAAAAAAA';

/** One of the own tools over one kept result; its answer as text. */
async function run(result: JsonObject, name: string, args: JsonObject = {}, tokens = 2000): Promise<string> {
  const kept: KeptResults = {
    keep: () => Promise.resolve(HANDLE),
    find: (_viewer, handle) =>
      Promise.resolve(
        handle === HANDLE ? { handle, server: 's', tool: 't', keptAt: 0, expiresAt: 1, result } : undefined,
      ),
    hasAny: () => Promise.resolve(true),
  };
  const answer = await runOwnTool(kept, viewer, name, { handle: HANDLE, ...args }, tokens);
  expect(estimateResultTokens(answer)).toBeLessThanOrEqual(Math.max(tokens, 300));
  return (answer['content'] as Array<{ text: string }>)[0]!.text;
}

const text = (value: string): JsonObject => ({ content: [{ type: 'text', text: value }] });
const json = (value: JsonValue): JsonObject => text(JSON.stringify(value));
const read = (result: JsonObject, args?: JsonObject, tokens?: number) => run(result, 'read_result', args, tokens);
const find = (result: JsonObject, query: string, args: JsonObject = {}, tokens?: number) =>
  run(result, 'search_result', { query, ...args }, tokens);
const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

describe('read_result', () => {
  it('ANS-3 reads lines of a text by offset and limit, and says where the next page begins', async () => {
    const log = text(lines(50, (at) => `line ${at}`));
    expect(await read(log, { offset: 10, limit: 2 })).toBe('line 10\nline 11\n[lines 10 to 11 of 50; next: offset 12]');
    expect(await read(log, { offset: 48 })).toBe('line 48\nline 49\n[lines 48 to 49 of 50]');
    expect(await read(log, { offset: 99 })).toBe('\n[none of 50 lines]');
    expect(await read(text('one\ntwo'))).toBe('one\ntwo');
    expect(await read(text(''))).toBe('\n[no lines]');
    // A client that validates nothing may send what the schema forbids.
    expect(await read(text('one\ntwo'), { offset: -1, limit: 'many', path: '', select: 7 })).toBe('one\ntwo');
  });

  it('ANS-3 reads items, members and single values, whole ones as long as they fit', async () => {
    const page = json({ total: 3, items: [{ id: 1 }, { id: 2 }, { id: 3 }], note: null });
    expect(await read(page, { path: 'items', offset: 1, limit: 1 })).toBe(
      '[\n{"id":2}\n]\n[items 1 to 1 of 3; next: offset 2]',
    );
    expect(await read(page, { limit: 1 })).toBe('{\n"total":3\n}\n[members 0 to 0 of 3; next: offset 1]');
    expect(await read(page, { path: 'total' })).toBe('3');
    const shape = '{total: number, items: [3 × {id: number}], note: null}';
    expect(await read(page, { path: 'nothing.here' })).toBe(`null\n[path found nothing in ${shape}]`);
    expect(await read(page, { select: 'rows[0]' })).toBe(`null\n[select found nothing in ${shape}]`);
    expect(await read(page, { path: 'rows', select: '[0]' })).toBe(
      `null\n[path found nothing in ${shape}; select begins at path]`,
    );
    expect(await read(page, { path: 'items', select: 'items[?id>`1`]' })).toBe(
      'null\n[select found nothing in [3 × {id: number}]; select begins at path]',
    );
    expect(await read(page, { path: 'items', select: '[?id>`9`]' })).toBe(
      '[]\n[select found nothing in [3 × {id: number}]; select begins at path]',
    );
    expect(await read(page, { path: 'items', select: '[?id>`1`].id' })).toBe('[\n2,\n3\n]');
    expect(await read(json([]))).toBe('[]');
    expect(await read(json({}))).toBe('{}');
  });

  it('ANS-3 names the argument that is not an expression, and the path where lines are', async () => {
    const page = json({ content: lines(50, (at) => `line ${at}`) });
    await expect(read(page, { path: 'items[1234' })).rejects.toMatchObject({
      message: expect.stringContaining('"path" is not a JMESPath expression'),
      problems: [{ path: 'path' }],
    });
    await expect(read(page, { path: 'rows', select: 'a[' })).rejects.toMatchObject({ problems: [{ path: 'select' }] });
    expect(await read(page, { offset: 3200 })).toBe(
      '{}\n[none of 1 members; what is long is in path "content": read it with that path and the offset]',
    );
    expect(await read(page, { path: 'content', offset: 49 })).toBe('line 49\n[lines 49 to 49 of 50]');
  });

  it('ANS-3 an item that is too large alone is cut and says so', async () => {
    const large = json([
      { body: 'word '.repeat(5000), list: Array.from({ length: 400 }, (_, at) => at) },
      { body: 'word '.repeat(60) },
    ]);
    const shown = await read(large, {}, 500);
    expect(shown).toMatch(/more characters\)/);
    expect(shown).toMatch(/\[items 0 to 0 of 2; long parts are cut: read them with a longer path; next: offset 1\]$/);
    expect(await read(text('x'.repeat(1900)), {}, 200)).toMatch(/more characters\)\n\[lines 0 to 0 of 1; long parts/);
  });

  it('ANS-3 path begins at the content where the result is no JSON', async () => {
    const mixed: JsonObject = {
      content: [
        { type: 'text', text: 'first\nsecond' },
        { type: 'resource', resource: { uri: 'a:b', text: 'third' } },
      ],
    };
    expect(await read(mixed, { path: 'content[0].text', offset: 1 })).toBe('second\n[lines 1 to 1 of 2]');
    expect(await read(mixed, { path: 'content[1].resource.text' })).toBe('third');
    const embedded = {
      content: [{ type: 'resource', resource: { uri: 'a:b', text: lines(9, (at) => `line ${at}`) } }],
    };
    expect(await read(embedded, { offset: 8 })).toBe('line 8\n[lines 8 to 8 of 9]');
    expect(await read({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] })).toContain('"image/png"');
    // JSON that has a member of that name is meant itself.
    expect(await read(json({ content: [1] }), { path: 'content[0]' })).toBe('1');
  });

  it('ANS-3 an expression that cannot be read or applied is refused', async () => {
    await expect(read(json([1]), { path: '[' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(read(json([1]), { select: 'sum(@)' })).resolves.toBe('1');
    await expect(read(json(['a']), { select: 'sum(@)' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(/^"select" cannot be applied: /),
    });
  });

  it('ANS-2 a text that is not a handle is refused in the same words', async () => {
    await expect(read(text('a'), { handle: 'res_BBBBBBBBBBBBBBBBBBBBBBBB' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'This result handle is unknown or has expired.',
    });
  });
});

describe('search_result', () => {
  const log = text(
    lines(3000, (at) => (at === 1234 ? 'ERROR could not open the database' : `INFO request ${at} served`)),
  );

  it('ANS-3 finds lines with their neighbours and their numbers', async () => {
    expect(await find(log, 'database errors')).toBe(
      '[1 found]\n[line 1234]\nINFO request 1233 served\nERROR could not open the database\nINFO request 1235 served',
    );
    expect(await find(log, 'request', { limit: 2 })).toMatch(/^\[2 of 2,999 found, best first\]\n\[line 0\]/);
    expect(await find(log, 'unicorn')).toBe(
      '[Nothing found. Try other words, or read_result with an offset or a path.]',
    );
    // Only words that say nothing: they are what is sought then.
    expect(await find(text('to be\nor not'), 'or')).toContain('or not');
  });

  it('ANS-3 finds records of JSON, parts of large records and lines of long texts in them, with their paths', async () => {
    const value = json({
      issues: [
        { id: 1, title: 'Login fails', body: 'short' },
        { id: 2, title: 'Crash', body: lines(200, (at) => `frame ${at} of the crash`) + '\nroot cause: overflow' },
      ],
      'odd key': { nested: { deep: 'treasure' } },
      many: Array.from({ length: 3000 }, (_, at) => at),
      flag: true,
    });
    expect(await find(value, 'login')).toBe('[1 found]\n[issues[0]]\n{"id":1,"title":"Login fails","body":"short"}');
    expect(await find(value, 'root cause')).toMatch(
      /\[issues\[1\]\.body, line 200\]\nframe 199 of the crash\nroot cause: overflow/,
    );
    expect(await find(value, 'treasure')).toContain('["odd key"');
    expect(await find(value, 'flag true')).toContain('[flag]\ntrue');
    expect(await find(value, '2999')).toContain('[many[2999]]\n2999');
  });

  it('ANS-3 ranks the whole phrase first, then rare words', async () => {
    const value = text('apple pie\npie of apple and pear\nan apple\na pear tree');
    expect(await find(value, 'apple pie', { limit: 1 })).toContain('apple pie');
    expect((await find(value, 'a pear tree', { limit: 1 })).split('\n')[1]).toBe('[line 3]');
  });

  it('ANS-3 A24 looks for a bounded number of words of bounded length', async () => {
    const value = text('needle in a haystack');
    const others = Array.from({ length: 32 }, (_, at) => `other${at}`).join(' ');
    expect(await find(value, `needle ${others}`)).toContain('needle in a haystack');
    expect(await find(value, `${others} needle`)).toContain('Nothing found');
    expect(await find(text('x'.repeat(100)), 'x'.repeat(65))).toContain('x'.repeat(65));
    expect(await find(text('x'.repeat(1000)), 'x'.repeat(300))).toContain('Nothing found');
  });

  it('ANS-3 A28 searches a bounded number of characters, long paths included', COMPUTES_LONG, async () => {
    let deep: JsonValue = 1;
    for (let level = 0; level < 400; level++) deep = { [`level${level}`]: deep, leaf: 1 };
    const many: JsonValue[] = Array.from({ length: 300 }, () => deep);
    const needle = { found: 'needle' };
    const structured = (items: JsonValue[]): JsonObject => ({ content: [], structuredContent: { items } });
    expect(await find(structured([needle, ...many]), 'needle')).toContain('needle');
    expect(await find(structured([...many, needle]), 'needle')).toContain('Nothing found');
  });

  it('ANS-3 searches every block of a result, resources and links too', async () => {
    const mixed: JsonObject = {
      content: [
        { type: 'text', text: 'alpha\nbeta' },
        { type: 'resource', resource: { uri: 'a:b', text: 'gamma' } },
        { type: 'resource_link', uri: 'file:///delta.txt', name: 'delta' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        'odd',
      ],
    };
    expect(await find(mixed, 'beta')).toContain('[content[0].text, line 1]\nalpha\nbeta');
    expect(await find(mixed, 'gamma')).toContain('[content[1].resource.text, line 0]\ngamma');
    expect(await find(mixed, 'delta')).toContain('[content[2]]');
    expect(await find({ structuredContent: { a: 'epsilon' } }, 'epsilon')).toContain('[a]\n"epsilon"');
    expect(await find({ content: 'odd' }, 'odd')).toMatch(/^\[Nothing found/);
  });

  it('ANS-3 finds words of languages without spaces', async () => {
    const page = text('今日は天気がいい\n明日は雨が降る\n犬');
    expect(await find(page, '雨が降る')).toContain('明日は雨が降る');
    expect(await find(page, '犬')).toContain('犬');
  });

  it('ANS-3 stays within the budget: a match that is too large is cut, further ones wait', async () => {
    const long = text(lines(20, (at) => `needle ${at} ${'hay '.repeat(400)}`));
    const found = await find(long, 'needle', {}, 300);
    expect(found).toMatch(/^\[1 of 20 found, best first\]/);
    expect(found).toContain('more characters)');
    expect(await find(long, 'needle', { limit: 'x' }, 3000)).toMatch(/^\[\d of 20 found/);
  });
});
