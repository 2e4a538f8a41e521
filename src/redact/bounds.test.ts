import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { RedactionConfig } from '../model/config.js';
import { createRedaction, type Redaction } from './redaction.js';

type Rule = Partial<RedactionConfig> & { match: RedactionConfig['match'] };

function redactionOf(rules: Rule[] = [], hide?: (text: string) => string): Redaction {
  const redaction = createRedaction(hide && { hide });
  redaction.use(rules.map((rule) => RedactionConfig.parse({ where: 'logs', ...rule })));
  return redaction;
}
const { stored, shown, logged } = redactionOf();

describe('how much of a value is stored', () => {
  it('EXEC-5 A28 a text of 200 characters is kept whole, a longer one is cut within them', () => {
    expect(stored('x'.repeat(200))).toBe('x'.repeat(200));
    const cut = '… [201 characters]';
    expect(stored('x'.repeat(201))).toBe('x'.repeat(200 - cut.length) + cut);
    // An observer and the log see more of it.
    expect([shown('x'.repeat(8000)), logged({ a: 'x'.repeat(8000) })['a']]).toEqual(Array(2).fill('x'.repeat(8000)));
    expect(shown('x'.repeat(8001))).toHaveLength(8000);
  });

  it('EXEC-5 A28 of the message of a failure 500 characters are kept', () => {
    expect(redactionOf().stored('x'.repeat(500), 's', 'message')).toBe('x'.repeat(500));
    expect(redactionOf().stored('x'.repeat(501), 's', 'message')).toHaveLength(500);
  });

  it('EXEC-5 A28 fifty items and fifty fields are kept; of more the last says how many are left out', () => {
    const items = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
    const fields = (count: number): JsonObject => Object.fromEntries(items(count).map((at) => [`k${at}`, at]));
    expect(stored(items(50))).toEqual(items(50));
    expect(stored(items(51))).toEqual([...items(49), '… 2 more']);
    expect(stored(fields(50))).toEqual(fields(50));
    expect(stored(fields(51))).toEqual({ ...fields(49), '…': '2 more' });
    // A field of that name keeps its place.
    expect(stored({ '…': 'mine', ...fields(60) })).toEqual({ '…': 'mine', ...fields(48) });
    const dropping = redactionOf([{ match: '…', action: 'drop' }]);
    expect(dropping.stored(fields(51))).toEqual(fields(49));
    expect(redactionOf([{ match: '/more/', action: 'drop' }]).stored(fields(51))).toEqual(fields(49));
  });

  it('EXEC-5 A28 eight levels are kept, and what lies deeper is named', () => {
    const nest = (levels: number, inner: JsonValue): JsonValue => {
      let value = inner;
      for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
      return value;
    };
    expect(stored(nest(8, 1))).toEqual(nest(8, 1));
    expect(stored(nest(8, { b: 1 }))).toEqual(nest(8, '[object]'));
    expect(stored(nest(8, [1]))).toEqual(nest(8, '[list]'));
  });

  it('EXEC-5 A28 after 16,384 characters, names included, everything else is left out', () => {
    const lengthOf = (value: JsonValue): number => JSON.stringify(stored(value)).length;
    const rows = Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => 'y'.repeat(199)));
    const kept = (stored(rows) as string[][]).flat().filter((each) => each.startsWith('y'));
    // 200 for each text with its own place, and one for each row.
    expect(kept).toHaveLength(82);
    const named = Array.from({ length: 50 }, () => ({ ['n'.repeat(150)]: 'y'.repeat(150), z: 1 }));
    expect(lengthOf(Array.from({ length: 50 }, () => named))).toBeLessThan(20_000);
  });

  it('EXEC-5 A28 the last of 16,384 characters is kept, and nothing behind it', () => {
    const rows = (last: number): JsonValue => [
      Array.from({ length: 50 }, () => 'y'.repeat(200)),
      [...Array.from({ length: 31 }, () => 'y'.repeat(200)), 'z'.repeat(last), null, null],
    ];
    // Each value has a place, lists too.
    const ends = (last: number): unknown => (stored(rows(last)) as JsonValue[][])[1]!.slice(-2);
    expect(ends(97)).toEqual([null, null]);
    expect(ends(98)).toEqual([null, '…']);
    expect(ends(99)).toEqual(['…', '…']);
  });

  it('EXEC-5 A28 of a very long text the first 65,536 characters are searched, and the rest is not kept', () => {
    const seen: number[] = [];
    const redaction = redactionOf([], (text) => (seen.push(text.length), text));
    redaction.stored(`token=abc ${'x'.repeat(1_000_000)}`);
    expect(Math.max(...seen)).toBeLessThan(66_000);
    const at = (offset: number): string => `${' '.repeat(offset)}password=hunter22`;
    expect(JSON.stringify(redaction.stored(at(150)))).not.toContain('hunter22');
  });
});

describe('rules in force', () => {
  it('NEG-6 are told apart from none at all', () => {
    const redaction = redactionOf();
    expect(redaction.hasRules).toBe(false);
    redaction.use([RedactionConfig.parse({ match: 'a' })]);
    expect(redaction.hasRules).toBe(true);
    redaction.use([]);
    expect([redaction.hasRules, redaction.outgoing('a')]).toEqual([false, undefined]);
    expect(createRedaction().hasRules).toBe(false);
  });

  it('NEG-6 A28 are made ready once for each server, and for a thousand servers at the most', () => {
    const { outgoing } = redactionOf([{ match: 'id', where: ['arguments'] }]);
    const first = outgoing('s0');
    for (let at = 1; at < 1000; at++) outgoing(`s${at}`);
    expect(outgoing('s0')).toBe(first);
    outgoing('one more');
    expect(outgoing('s0')).not.toBe(first);
  });
});

describe('what is found in what is stored', () => {
  const hiding = redactionOf([], (text) => text.replaceAll('c4n4ry', '***'));

  it('NEG-6 A33 a secret in use is hidden in texts, in names and in long numbers', () => {
    expect(hiding.stored({ a: 'my c4n4ry', 'the c4n4ry': 1, b: ['c4n4ry'] })).toEqual({
      a: 'my ***',
      'the ***': 1,
      b: ['***'],
    });
    const numbers = redactionOf([], (text) => text.replaceAll(/100000|123456/g, '***'));
    expect(numbers.stored([99_999, 100_000, -100_000, 123_456, 7])).toEqual([99_999, '***', '-***', '***', 7]);
    const six = redactionOf([], (text) => text.replaceAll('can4ry', '***'));
    expect(six.stored(['can4ry', { can4ry: 1 }])).toEqual(['***', { '***': 1 }]);
    const five = redactionOf([], (text) => text.replaceAll('c4n4r', '***'));
    expect(five.stored(['c4n4r'])).toEqual(['***']);
    expect(five.stored({ c4n4r: 1 })).toEqual({ '***': 1 });
  });

  it('NEG-6 A33 of two names that become one by hiding, the first keeps its value', () => {
    expect(hiding.stored({ 'x ***': 2, 'x c4n4ry': 1, z: 3 })).toEqual({ 'x ***': 2, z: 3 });
    expect(hiding.stored({ 'c4n4ry x': 1, 'c4n4ry y': 2 })).toEqual({ '*** x': 1, '*** y': 2 });
  });

  it('NEG-6 a rule finds a field by its whole name and by the name that is stored', () => {
    const long = `secretive_${'n'.repeat(300)}`;
    const redaction = redactionOf([{ match: '*nnn' }, { match: '*characters]' }]);
    expect(Object.values(redaction.stored({ [long]: 1 }) as JsonObject)).toEqual(['***']);
    expect(Object.values(redactionOf([{ match: '*characters]' }]).stored({ [long]: 1 }) as JsonObject)).toEqual([
      '***',
    ]);
  });

  it('NEG-6 EXEC-5 what is not JSON is stored as JSON has it, hidden or not', () => {
    const date = new Date(0);
    const value = { date, at: { toJSON: () => 'x', kept: 1 }, none: undefined, big: 12n, not: Infinity, f: () => 1 };
    expect(stored(value as never)).toEqual({ date: {}, at: { toJSON: null, kept: 1 }, big: '12', not: null, f: null });
    class Holder {
      token = 's3cr3t-s3cr3t';
      toJSON(): unknown {
        return { leaked: this.token };
      }
    }
    expect(JSON.stringify(stored({ holder: new Holder() } as never))).toBe('{"holder":{"token":"***"}}');
    const hashed = redactionOf([{ match: 'a', action: 'hash' }]);
    expect(hashed.stored({ a: (() => 1) as never })).toEqual({ a: '***' });
    expect(hashed.stored({ a: null })).toEqual({ a: '***' });
    expect(hashed.stored({ a: false })).toEqual({ a: expect.stringMatching(/^sha256:/) as string });
  });

  it('NEG-6 what needs no change is the same object, and what was dropped costs nothing of the size', () => {
    const value = { a: [1, { b: 'text' }], c: null };
    expect(stored(value)).toBe(value);
    const dropping = redactionOf([{ match: '/^y+$/', action: 'drop' }]);
    const rows = Array.from({ length: 40 }, (_, at) => ({ [`n${at}`.repeat(40)]: 'y'.repeat(190), keep: at }));
    expect(dropping.stored(rows)).toEqual(rows.map(({ keep }) => ({ keep })));
  });
});
