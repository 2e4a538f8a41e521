import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeeperThan, type JsonObject, type JsonValue } from '../kernel/json.js';
import { createLog } from '../kernel/log.js';
import { RedactionConfig } from '../model/config.js';
import { createRedaction, type Redaction } from './redaction.js';
import { COMPUTES_LONG, patient } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';
import { codePoint } from '../../test/support/any-text.js';

function redactionOf(...rules: Array<Partial<RedactionConfig> & { match: RedactionConfig['match'] }>): Redaction {
  const redaction = createRedaction();
  redaction.use(rules.map((rule) => RedactionConfig.parse(rule)));
  return redaction;
}

const outgoing = (redaction: Redaction, args: JsonObject, server = 's'): JsonObject =>
  redaction.outgoing(server)?.arguments(args) ?? args;
const incoming = (redaction: Redaction, result: JsonObject, server = 's'): JsonObject =>
  redaction.incoming(server)?.result(result) ?? result;
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('rules', () => {
  it('NEG-6 without a rule for it nothing that passes through is touched, or even looked at', () => {
    const redaction = redactionOf({ match: '**.x', where: 'logs' });
    expect(redaction.outgoing('s')).toBeUndefined();
    expect(redaction.incoming('s')).toBeUndefined();
    expect(redaction.screen('s')).toBeUndefined();
    expect(createRedaction().outgoing('s')).toBeUndefined();
    expect(createRedaction().screen('s')).toBeUndefined();
  });

  it('NEG-6 a field glob matches by path, without regard to case; a single name at any depth', () => {
    const where = 'arguments' as const;
    const cases: Array<[string, JsonObject, JsonObject]> = [
      ['**.password', { a: { Password: 'x' }, password: 1 }, { a: { Password: '***' }, password: '***' }],
      ['password', { a: [{ password: 'x' }] }, { a: [{ password: '***' }] }],
      [
        'Headers.Authorization',
        { headers: { authorization: 'x', other: 'y' } },
        { headers: { authorization: '***', other: 'y' } },
      ],
      [
        'headers.authorization',
        { deep: { headers: { authorization: 'x' } } },
        { deep: { headers: { authorization: 'x' } } },
      ],
      [
        '**.headers.authorization',
        { deep: { headers: { authorization: 'x' } } },
        { deep: { headers: { authorization: '***' } } },
      ],
      ['users.*.id', { users: [{ a: { id: 1 } }, { id: 2 }] }, { users: [{ a: { id: '***' } }, { id: 2 }] }],
      ['a.**.z', { a: { z: 1, b: { c: { z: 2 } } }, z: 3 }, { a: { z: '***', b: { c: { z: '***' } } }, z: 3 }],
      [
        'budget_{id,no}',
        { budget_id: 1, BUDGET_NO: 2, budget_of: 3 },
        { budget_id: '***', BUDGET_NO: '***', budget_of: 3 },
      ],
      ['headers.authorization', { 'headers.authorization': 'x' }, { 'headers.authorization': '***' }],
    ];
    for (const [match, given, expected] of cases) {
      expect(outgoing(redactionOf({ match, where }), given), match).toEqual(expected);
    }
  });

  it('NEG-6 mask, hash and drop', () => {
    const args = { id: 'BUD-1', keep: true };
    expect(outgoing(redactionOf({ match: 'id', action: 'mask', where: 'arguments' }), args)).toEqual({
      id: '***',
      keep: true,
    });
    expect(outgoing(redactionOf({ match: 'id', action: 'drop', where: 'arguments' }), args)).toEqual({ keep: true });
    const hashed = outgoing(redactionOf({ match: 'id', action: 'hash', where: 'arguments' }), args);
    expect(hashed).toEqual({ id: expect.stringMatching(/^sha256:[0-9a-f]{16}$/), keep: true });
    expect(outgoing(redactionOf({ match: 'id', action: 'hash', where: 'arguments' }), { ...args })).toEqual(hashed);
  });

  it('NEG-6 a pattern on values replaces what it finds, in texts and numbers; drop takes the value', () => {
    const args = { note: 'see BUD-123456 and BUD-999999', list: ['BUD-000001', 'x'], card: 4111111111111111 };
    const match = ['/BUD-\\d{6}/', '/\\b4\\d{15}\\b/'];
    expect(outgoing(redactionOf({ match, where: 'arguments' }), args)).toEqual({
      note: 'see *** and ***',
      list: ['***', 'x'],
      card: '***',
    });
    expect(outgoing(redactionOf({ match, action: 'drop', where: 'arguments' }), args)).toEqual({ list: ['x'] });
    expect(outgoing(redactionOf({ match, action: 'hash', where: 'arguments' }), args)['note']).toMatch(
      /^see sha256:\w{16} and sha256:\w{16}$/,
    );
  });

  it('NEG-6 the first rule that matches a field decides, and what no rule matches stays the same object', () => {
    const redaction = redactionOf(
      { match: 'token', action: 'hash', where: 'logs' },
      { match: 'a', action: 'drop', where: 'arguments' },
      { match: '*', action: 'mask', where: 'results' },
    );
    expect(redaction.stored({ token: 'x' })).toEqual({ token: expect.stringMatching(/^sha256:/) });
    const args = { b: { c: [1, 2] } };
    expect(outgoing(redaction, args)).toBe(args);
  });

  it('NEG-6 A33 rules for one server beside rules for all hold for it alone, in whatever order servers come', () => {
    const rules = [
      { match: 'id', where: 'logs' as const, servers: ['bank'] },
      { match: 'everywhere', where: 'logs' as const },
    ];
    const value = { id: '7', everywhere: 'x', other: 'y' };
    const [of, both] = [
      { ...value, everywhere: '***' },
      { ...value, id: '***', everywhere: '***' },
    ];
    for (const order of [
      ['bank', 'notes', undefined],
      [undefined, 'notes', 'bank'],
      ['notes', 'bank', undefined],
    ]) {
      const redaction = redactionOf(...rules);
      for (const server of order) {
        expect(redaction.stored(value, server), String(server)).toEqual(server === 'bank' ? both : of);
        expect(redaction.shown(value, server), String(server)).toEqual(server === 'bank' ? both : of);
      }
      expect(redaction.logged({ ...value, server: 'bank' })).toEqual({ ...both, server: 'bank' });
      expect(redaction.logged({ ...value, server: 'notes' })).toEqual({ ...of, server: 'notes' });
      expect(redaction.logged(value)).toEqual(of);
    }
  });

  it('NEG-6 of several names of servers one is enough, and one that is excluded is enough as well', () => {
    const redaction = redactionOf({ match: 'id', where: 'arguments', servers: ['a*', 'b*', '!*-ok', '!b-free'] });
    const isMasked = (server: string): boolean => outgoing(redaction, { id: 'x' }, server)['id'] === '***';
    expect(['a1', 'b1', 'a-ok', 'b-ok', 'b-free', 'c', 'a-free'].map(isMasked)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      true,
    ]);
    const all = redactionOf({ match: 'id', where: 'arguments', servers: ['!free', '!open'] });
    expect(['free', 'open', 'x'].map((server) => outgoing(all, { id: 'x' }, server)['id'])).toEqual(['x', 'x', '***']);
  });

  it('NEG-6 A33 what is completed, and what was filled in before, is redacted like arguments', () => {
    const params = redactionOf({ match: 'id', where: 'arguments' }).outgoing('s')!.params;
    expect(
      params({
        ref: { type: 'ref/prompt', name: 'p' },
        argument: { name: 'id', value: '7' },
        context: { arguments: { id: '7', other: 'y' } },
        _meta: { id: '7' },
      }),
    ).toEqual({
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'id', value: '***' },
      context: { arguments: { id: '***', other: 'y' } },
      _meta: { id: '***' },
    });
    expect(params({ argument: { name: 'other', value: '7' } })).toEqual({ argument: { name: 'other', value: '7' } });
    expect(params({ argument: { id: '7' }, context: [{ id: '7' }] })).toEqual({
      argument: { id: '***' },
      context: [{ id: '***' }],
    });
  });

  it('NEG-6 a rule for some servers leaves the others alone', () => {
    const redaction = redactionOf({ match: 'id', where: ['arguments', 'logs'], servers: ['ext-*', '!ext-ok'] });
    expect(outgoing(redaction, { id: 1 }, 'ext-a')).toEqual({ id: '***' });
    expect(outgoing(redaction, { id: 1 }, 'ext-ok')).toEqual({ id: 1 });
    expect(redaction.outgoing('mine')).toBeUndefined();
    expect(plain(redaction.stored({ id: 1 }, 'ext-a'))).toEqual({ id: '***' });
    expect(plain(redaction.stored({ id: 1 }, 'mine'))).toEqual({ id: 1 });
    expect(plain(redaction.stored({ id: 1 }))).toEqual({ id: 1 });
  });

  it('NEG-6 what must not be sent is not stored either', () => {
    const redaction = redactionOf({ match: 'budget', where: 'arguments' });
    expect(plain(redaction.stored({ budget: 'B-1' }, 's'))).toEqual({ budget: '***' });
  });
});

describe('results', () => {
  it('NEG-6 fields are found in structured content, in JSON within texts, and by the path of the result', () => {
    const data = { user: { ssn: '123', name: 'ada' } };
    const result = {
      content: [
        { type: 'text', text: JSON.stringify(data) },
        { type: 'resource', resource: { text: JSON.stringify(data) } },
      ],
      structuredContent: data,
      _meta: { trace: 't' },
    };
    const hidden = { user: { ssn: '***', name: 'ada' } };
    expect(incoming(redactionOf({ match: ['user.ssn', '_meta.trace'], where: 'results' }), result)).toEqual({
      content: [
        { type: 'text', text: JSON.stringify(hidden) },
        { type: 'resource', resource: { text: JSON.stringify(hidden) } },
      ],
      structuredContent: hidden,
      _meta: { trace: '***' },
    });
    expect(result.structuredContent.user.ssn).toBe('123');
  });

  it('NEG-6 A27 A28 hostile results: prototypes are data, what nests too deep is masked', () => {
    const redaction = redactionOf({ match: 'secret', where: 'results' });
    const evil = JSON.parse('{"structuredContent":{"__proto__":{"secret":"x"},"constructor":1}}') as JsonObject;
    expect(JSON.stringify(incoming(redaction, evil))).toBe(
      '{"structuredContent":{"__proto__":{"secret":"***"},"constructor":1}}',
    );
    let deep: JsonValue = { secret: 'canary-canary' };
    for (let level = 0; level < 20_000; level++) deep = level % 2 ? [deep] : { deep };
    const shown = incoming(redaction, { structuredContent: deep });
    expect(isDeeperThan(shown, 300)).toBe(false);
    const nested = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    expect(incoming(redaction, { content: [{ type: 'text', text: nested }] })).toEqual({
      content: [{ type: 'text', text: '***' }],
    });
  });
});

describe('stored and logged', () => {
  it('NEG-6 A33 the default set finds secrets by their form, wherever they stand', () => {
    const { stored } = createRedaction();
    for (const text of [
      'curl -H "Authorization: Bearer c4n4ryc4n4ryc4n4ry"',
      '{"password":"c4n4ryc4n4ry"}',
      '{\\"api_key\\": \\"c4n4ryc4n4ry\\"}',
      'https://api.example.org/?token=c4n4ryc4n4ry&x=1',
      'postgres://root:c4n4ryc4n4ry@db.example.org/x',
      'use ghp_c4n4ryc4n4ryc4n4ryc4n4ry now',
      '-----BEGIN RSA PRIVATE KEY-----\nc4n4ryc4n4ry\n-----END RSA PRIVATE KEY-----',
    ]) {
      expect(JSON.stringify(stored({ text })), text).not.toContain('c4n4ry');
    }
    for (const text of ['count the tokens: 5', 'a token of thanks', 'https://example.org/a:b@c', 'sk-learn']) {
      expect(plain(stored({ text }))).toEqual({ text });
    }
  });

  it('NEG-6 lines of the log are redacted by the same rules, and stay one line', () => {
    const lines: string[] = [];
    const redaction = redactionOf({ match: ['/BUD-\\d+/', 'budget'], where: 'logs' });
    const log = createLog({
      level: 'debug',
      now: () => 0,
      write: (line) => void lines.push(line),
      redact: redaction.logged,
    });
    log.warn('x', { reason: 'no BUD-77\nhere', budget: 5, token: 'abc', stack: 's'.repeat(3000) });
    expect(JSON.parse(lines[0]!)).toMatchObject({
      reason: 'no ***\nhere',
      budget: '***',
      token: '***',
      stack: 's'.repeat(3000),
    });
    expect(lines[0]!.trimEnd()).not.toContain('\n');
  });

  it('NEG-6 a secret that begins before the cut of a long text does not survive in part', () => {
    const redaction = redactionOf({ match: '/CANARY[a-z]+/', where: 'logs' });
    const text = `${'x'.repeat(170)}CANARY${'z'.repeat(500)}`;
    expect(JSON.stringify(redaction.stored({ text }))).not.toContain('CANARY');
  });
});

/** Values, names and texts that meet the rules below in every way. */
const someText = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 12 }),
  fc.constantFrom(
    '***',
    'sha256:0123456789abcdef',
    'ab1',
    'b',
    'XXfoo',
    'aXb',
    'token=ab',
    '{"a":"b1"}',
    '["ab",{"c":"12"}]',
  ),
  fc.stringMatching(/^[ab12*. :=]{0,12}$/),
  fc.string({ minLength: 190, maxLength: 260 }),
);
const someName = fc.oneof(
  fc.constantFrom('a', 'b', 'a.b', 'c', '__proto__', '…', 'structuredContent'),
  fc.string({ maxLength: 4 }),
);
const someJson: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(someText, fc.integer(), fc.constant(null)) as fc.Arbitrary<JsonValue>,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(someName, tie('value'), { maxKeys: 5 }) as fc.Arbitrary<JsonValue>,
  ),
})).value;
const someRule = fc.record({
  match: fc.array(
    fc.constantFrom(
      'a',
      'a.b',
      '**.c',
      '*.b',
      'a.**',
      '…',
      '*characters*',
      '/[ab]+/',
      '/\\d+/',
      '/XX|\\bfoo/',
      '/X|b$/',
      '/\\*b/',
      '/.+/',
      '/characters/',
    ),
    { minLength: 1, maxLength: 3 },
  ),
  action: fc.constantFrom('mask' as const, 'hash' as const, 'drop' as const),
  where: fc.constant(['logs', 'arguments', 'results'] as Array<'logs' | 'arguments' | 'results'>),
});

describe('laws', () => {
  it('NEG-6 R15 redacting what is redacted changes nothing, whatever the rules', { timeout: patient(120_000) }, () => {
    // Compiling costs far more than redacting, so a set of rules serves many values.
    const sets = fc.sample(fc.array(someRule, { minLength: 1, maxLength: 3 }), 100);
    const ready = new Map(
      sets.map((rules) => {
        const redaction = createRedaction();
        redaction.use(rules);
        return [rules, redaction] as const;
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...sets), someJson, (rules, value) => {
        const redaction = ready.get(rules)!;
        const once = (redact: (given: JsonValue) => JsonValue): void => {
          const first = JSON.stringify(redact(value));
          expect(JSON.stringify(redact(JSON.parse(first) as JsonValue))).toBe(first);
        };
        once((given) => redaction.stored(given, 's'));
        once((given) => outgoing(redaction, { given })['given'] ?? null);
        once((given) => incoming(redaction, { structuredContent: given })['structuredContent'] ?? null);
      }),
      { numRuns: repetitions(500, 3000) },
    );
  });

  it('NEG-6 R15 no value of a masked field comes out, wherever it stands', COMPUTES_LONG, () => {
    const canary = 'c4n4ry-c4n4ry';
    fc.assert(
      fc.property(fc.array(someName, { maxLength: 5 }), someJson, (path, beside) => {
        const redaction = redactionOf({ match: 'hidden', where: ['arguments', 'results', 'logs'] });
        let value: JsonObject = { hidden: [canary, { x: canary }], beside };
        for (const name of path) value = { [name]: value };
        for (const shown of [outgoing(redaction, value), incoming(redaction, value), redaction.stored(value)]) {
          expect(JSON.stringify(shown)).not.toContain(canary);
        }
        const text = JSON.stringify(value);
        expect(JSON.stringify(incoming(redaction, { content: [{ type: 'text', text }] }))).not.toContain(canary);
      }),
      { numRuns: repetitions(200, 1000) },
    );
  });

  it('NEG-6 A26 no name and no text makes redaction slow: a megabyte of near misses', () => {
    const redaction = redactionOf({ match: ['**.{a,b}*c', '/(a|b)*c/'], where: ['arguments', 'logs'] });
    const names = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`ab${i}`, 'ab'.repeat(20)]));
    expect(outgoing(redaction, { names })).toEqual({ names });
    const text = 'ab'.repeat(200_000);
    expect(outgoing(redaction, { text })).toEqual({ text });
    expect(JSON.stringify(redaction.stored({ text: `://${'a:'.repeat(500_000)}` })).length).toBeLessThan(300);
  });
});
