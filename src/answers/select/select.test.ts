import { search as communitySearch } from '@jmespath-community/jmespath';
import { array, assert, constantFrom, dictionary, letrec, oneof, property, tuple, type Arbitrary } from 'fast-check';
import jmespath from 'jmespath';
import { describe, expect, it } from 'vitest';
import { isDeepStrictEqual as isDeepEqual } from 'node:util';
import { repetitions } from '../../../test/support/long-form.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { JsonValue } from '../../kernel/json.js';
import { compileSelection } from './select.js';

const DATA: JsonValue = {
  total: 3,
  name: 'list',
  empty: [],
  nothing: null,
  flag: false,
  'a-b': { 'c d': 1 },
  items: [
    { id: 3, title: 'c', state: 'open', labels: ['x', 'y'], user: { login: 'ann', age: 30 } },
    { id: 1, title: 'a', state: 'closed', labels: [], user: { login: 'bob', age: 25 } },
    { id: 2, title: 'b', state: 'open', labels: ['y'], user: null },
  ],
  nested: [[1, 2], [3, [4]], 5],
  map: { one: { n: 1 }, two: { n: 2 } },
};

/** What an expression gives; `'error'` when it cannot be read or applied. */
const ours = (text: string, value: JsonValue): unknown => {
  try {
    const outcome = compileSelection(text).apply(value);
    return 'value' in outcome ? outcome.value : 'error';
  } catch (thrown) {
    if (thrown instanceof ToolscoutError) return 'error';
    throw thrown;
  }
};

const guarded = (search: () => unknown): unknown => {
  try {
    return search() ?? null;
  } catch {
    return 'error';
  }
};
const theirs = (text: string, value: JsonValue): unknown => guarded(() => jmespath.search(value, text));
const community = (text: string, value: JsonValue): unknown => guarded(() => communitySearch(value as never, text));

const EXPRESSIONS = [
  'total',
  '@',
  'items',
  'items[0]',
  'items[-1].id',
  'items[9]',
  'nothing',
  'nothing.x',
  'missing.x.y',
  '"a-b"."c d"',
  'items[*].id',
  'items[].labels',
  'items[].labels[]',
  'items[*].labels[]',
  'items[*].labels[0]',
  'items[*].user.login',
  'items[:2].id',
  'items[1:].id',
  'items[::-1].id',
  'items[::2].id',
  'items[-2:].id',
  'items[2:0:-1].id',
  'items[5:1].id',
  "items[?state=='open'].id",
  "items[?state!='open'].title",
  'items[?id>`1`].id',
  'items[?id>=`2` && id<`3`].id',
  "items[?id<`2` || state=='open'].id",
  'items[?!labels].id',
  'items[?labels].id',
  'items[?user.age>`26`].user.login',
  'items[?user].user.login | [0]',
  "items[?contains(labels, 'y')].id",
  "items[?starts_with(title, 'a')] | length(@)",
  '{t: total, ids: items[*].id}',
  'items[*].{id: id, who: user.login}',
  'items[*].[id, title]',
  '[total, name]',
  'map.*.n',
  '*.one',
  'map.one || map.two',
  'missing || name',
  'flag || `[]` || name',
  'flag && name',
  'name && total',
  '!flag',
  '!name',
  'nested[]',
  'nested[][]',
  'nested[*][0]',
  'nested[] | [1]',
  'empty[0]',
  'empty[]',
  '(items[*].id)[0]',
  'items[*].id | [0]',
  'length(items)',
  'length(name)',
  'keys(map)',
  'values(map)',
  'sort(items[*].id)',
  'sort(items[*].title)',
  'sort_by(items, &id)[*].title',
  'max(items[*].id)',
  'min(items[*].title)',
  'max_by(items, &id).title',
  'min_by(items, &id).title',
  'sum(items[*].id)',
  'avg(items[*].id)',
  'avg(empty)',
  'sum(empty)',
  'max(empty)',
  'join(`, `, items[*].title)',
  "join('-', items[*].title)",
  'map(&id, items)',
  'map(&user.login, items)',
  'reverse(items[*].id)',
  "reverse('abc')",
  'to_string(total)',
  'to_string(map)',
  "to_number('12')",
  "to_number('x')",
  'to_array(total)',
  'to_array(items[*].id)',
  'type(items)',
  'type(total)',
  'type(nothing)',
  'abs(`-3`)',
  'ceil(`1.2`)',
  'floor(`1.8`)',
  "ends_with(name, 'st')",
  'merge(map.one, map.two)',
  'not_null(nothing, missing, name)',
  'length(`[1,2]`)',
  "'raw string'",
  '`{"a": 1}`',
  '`"text"`',
  '`1`',
  'items[0].user.{l: login}',
  'items[*].labels | [*][0]',
  'items[?labels[0]==`"x"`]',
  'total == `3`',
  'items[0] == items[0]',
  'items[0] != items[1]',
  'name < `3`',
  'flag < total',
  'nested[1][1][0]',
  'items[?id==`1`] | [0].user.login',
  'items[].user | [].login',
  'items[*].user[].login',
  '*[0]',
  'items[*].*',
  'map.*.*',
  'map.* | [0]',
  // Not expressions, or not to be applied.
  '',
  '.',
  'items[',
  'items[?',
  'items[]]',
  'a b',
  'a..b',
  '[',
  '{',
  '{a}',
  '{a:}',
  'items[0',
  'foo(',
  'nope(@)',
  'length()',
  'length(@, @)',
  'length(total)',
  'sort(map)',
  'sum(name)',
  'keys(items)',
  'join(`1`, items)',
  'abs(name)',
  '"open',
  '`open',
  'a &&',
  '|| a',
  'items[::0]',
  'items[*',
  'a.',
  'a.[',
  '@.',
  'a.1',
  '#',
  'a = b',
  'contains(total, `3`)',
  'max(`[1, "a"]`)',
  'sort_by(items, id)',
  'items[1:2:3:4]',
];

/** Names that occur in the data as well, so that expressions often find something. */
const name = constantFrom('a', 'b', 'c', '"d e"');
const data: Arbitrary<JsonValue> = letrec<{ value: JsonValue; leaf: JsonValue }>((tie) => ({
  leaf: oneof(
    constantFrom<JsonValue[]>(null, true, false, 0, 1, -2, 2.5, '', 'x', 'yz'),
    constantFrom<JsonValue[]>([], {}),
  ),
  value: oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    array(tie('value'), { maxLength: 4 }),
    dictionary(constantFrom('a', 'b', 'c', 'd e'), tie('value'), { maxKeys: 4 }),
  ),
})).value;

/**
 * Random expressions over those names. Left out is where both libraries leave the specification: `<` of values that are no
 * numbers, and `max_by` with texts as keys.
 */
function expression(depth: number): Arbitrary<string> {
  const leaf = oneof(name, constantFrom('@', '`1`', "'x'", '`null`', '`[]`', '`true`'));
  if (depth === 0) return leaf;
  const inner = expression(depth - 1);
  const step = oneof(
    name.map((field) => `.${field}`),
    constantFrom('[0]', '[-1]', '[*]', '[]', '[1:]', '[::-1]', '.*'),
    inner.map((test) => `[?${test}]`),
    inner.map((item) => `.[${item}]`),
    inner.map((item) => `.{k: ${item}}`),
    inner.map((next) => ` | ${next}`),
  );
  return oneof(
    leaf,
    tuple(name, array(step, { minLength: 1, maxLength: 3 })).map(([start, steps]) => start + steps.join('')),
    tuple(inner, constantFrom('||', '&&', '==', '!='), inner).map(([a, operator, b]) => `${a} ${operator} ${b}`),
    inner.map((of) => `!${of}`),
    inner.map((of) => `(${of})`),
    tuple(
      constantFrom('length', 'type', 'to_array', 'sort', 'keys', 'sum', 'max', 'to_string', 'not_null', 'reverse'),
      inner,
    ).map(([called, of]) => `${called}(${of})`),
    tuple(inner, inner).map(([of, key]) => `sort_by(${of}, &${key})`),
    tuple(inner, inner).map(([key, of]) => `map(&${key}, ${of})`),
    array(inner, { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
  );
}

describe('select', () => {
  it.each(EXPRESSIONS)('ANS-4 gives for %j what the reference libraries give', (text) => {
    const result = ours(text, DATA);
    const [first, second] = [theirs(text, DATA), community(text, DATA)];
    // Where the libraries differ, one of them is enough.
    expect([first, second]).toContainEqual(result);
  });

  it('ANS-4 gives for generated expressions and data what a reference library gives', () => {
    assert(
      property(expression(3), data, (text, value) => {
        // One library cannot read `@ || …` as an argument; the error of the other may then have another cause.
        if (guarded(() => (jmespath as unknown as { compile(text: string): unknown }).compile(text)) === 'error')
          return;
        const result = ours(text, value);
        const [first, second] = [theirs(text, value), community(text, value)];
        // Where the libraries differ (order of texts, what an error is), the specification does not say.
        if (isDeepEqual(first, second)) expect({ text, value, result }).toEqual({ text, value, result: first });
      }),
      { numRuns: repetitions(1000, 50_000), seed: 20_261_117 },
    );
  });

  it('ANS-4 names the position of what is wrong', () => {
    for (const [text, position] of [
      ['items[?id==', 12],
      ['a.b c', 5],
      ['length(@, @)', 1],
      ['a = b', 3],
      ["items[?name=='x]", 14],
      ['x'.repeat(5000), 4097],
      [`${'('.repeat(70)}a${')'.repeat(70)}`, 65],
    ] as const) {
      expect(() => compileSelection(text)).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(`position ${position},`) }),
      );
    }
  });

  it.each([
    ['items[?id==1234]', 'found 1234; a number is written in backticks: `1234`, at position 12'],
    ['items[?id>-5]', 'a number is written in backticks: `-5`'],
    ['$.items[0]', 'begin with the name of a field'],
    ['.items[0]', 'begin with the name of a field'],
    ['a-b', 'is written in double quotes'],
  ])('ANS-4 says how %s is written', (text, hint) => {
    expect(() => compileSelection(text)).toThrow(hint);
  });

  it('ANS-4 names the argument that holds the expression', () => {
    expect(() => compileSelection('items[', 'path')).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('"path" is not a JMESPath expression'),
        problems: [expect.objectContaining({ path: 'path' })],
      }),
    );
  });

  it('ANS-4 A44 ends an expression that explodes in time or in output', () => {
    const list: JsonValue = Array.from({ length: 3000 }, (_, at) => ({ id: at }));
    const doubling = Array.from({ length: 40 }, () => '[@, @]').join(' | ');
    expect(compileSelection(doubling).apply(list)).toEqual({ problem: 'it selects more than 1000000 values' });
    const pairs =
      '[*].[@, @][][].[@, @][][].[@, @][][].[@, @][][].[@, @][][].[@, @][][].[@, @][][].[@, @][][].[@, @][][].[@, @][][].[@, @][][]';
    expect(compileSelection(pairs).apply(list)).toHaveProperty('problem');
    const long = Array.from({ length: 22 }, () => "join('', [@, @])").join(' | ');
    expect(compileSelection(long).apply('x'.repeat(1000))).toHaveProperty('problem');
    let deep: JsonValue = 1;
    for (let level = 0; level < 5000; level++) deep = [deep];
    expect(compileSelection('@').apply(deep)).toEqual({ problem: 'the result nests deeper than 500 levels' });
  });

  const copies = (levels: number, each: number): string =>
    Array.from({ length: levels }, () => `[${Array.from({ length: each }, () => '@').join(',')}]`).join(' | ');
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key${at}`, at]));
  const [long, other] = [`${'a'.repeat(100_000)}b`, `${'a'.repeat(100_000)}c`];
  const bombs: ReadonlyArray<readonly [string, string, JsonValue]> = [
    ['to_string() of a value that holds one part many times', `${copies(40, 2)} | to_string(@)`, 'x'],
    ['a filter over wide objects', `${copies(3, 10)} | [][] | [?@]`, wide],
    ['length() of wide objects', `${copies(3, 10)} | [][] | [*].length(@)`, wide],
    ['keys() of wide objects', `${copies(3, 10)} | [][] | [*].keys(@) | length(@)`, wide],
    ['values() of wide objects', `${copies(3, 10)} | [][] | [*].values(@) | length(@)`, wide],
    ['equality of wide objects', `${copies(3, 10)} | [][] | [?@ != a]`, { a: wide, ...wide }],
    [
      'contains() that compares every letter at every place',
      'contains(x, y)',
      { x: 'a'.repeat(400_000), y: `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}` },
    ],
    [
      'contains() of long texts in a list',
      `${copies(4, 10)} | [][][] | [?contains([x, x, x, x], y)]`,
      { x: long, y: other },
    ],
    ['starts_with() of long texts', `${copies(4, 10)} | [][][] | [?starts_with(x, x)]`, { x: long }],
    ['ends_with() of long texts', `${copies(4, 10)} | [][][] | [?ends_with(x, x)]`, { x: long }],
    ['to_number() of long texts', `${copies(4, 10)} | [][][] | [?to_number(x) == x]`, { x: '1'.repeat(100_000) }],
    ['equality of long texts', `${copies(4, 10)} | [][][] | [?x == y]`, { x: long, y: other }],
    ['order of long texts', `${copies(4, 10)} | [][][] | [?x < y]`, { x: long, y: other }],
    [
      'sort() of long texts',
      'sort(@)',
      Array.from({ length: 3000 }, (_, at) => `${'a'.repeat(20_000)}${(at * 7919) % 3000}`),
    ],
    ['max() of long texts', `${copies(4, 10)} | [][][] | [*].max([x, y])`, { x: long, y: other }],
  ];

  it.each(bombs)('ANS-4 A24 counts the work of %s', (_name, expression, value) => {
    const outcome = compileSelection(expression).apply(value);
    expect('problem' in outcome && outcome.problem).toBe('it takes too many steps; select less at once');
  });

  it('ANS-4 treats __proto__ and constructor as names like any other', () => {
    const value = JSON.parse('{"__proto__": {"polluted": 1}, "a": {"constructor": 2}}') as JsonValue;
    expect(ours('__proto__.polluted', value)).toBe(1);
    expect(ours('a.constructor', value)).toBe(2);
    expect(ours('constructor', value)).toBeNull();
    expect(ours('toString', value)).toBeNull();
    expect(ours('length', [1, 2])).toBeNull();
    const made = ours('{"__proto__": a, b: `1`}', value) as object;
    expect(Object.keys(made)).toEqual(['__proto__', 'b']);
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    const merged = ours('merge(@, a)', value) as object;
    expect(Object.keys(merged)).toEqual(['__proto__', 'a', 'constructor']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(() => compileSelection('constructor(@)')).toThrow('there is no function constructor()');
    expect(() => compileSelection('__proto__(@)')).toThrow('there is no function __proto__()');
  });
});
