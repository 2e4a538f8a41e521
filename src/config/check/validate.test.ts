import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Config } from '../../model/config.js';
import { validateConfig } from '../index.js';
import { checkConfig } from './validate.js';
import { expectation, schemasAt, type Schema } from './shape.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { repetitions } from '../../../test/support/long-form.js';

const CANARY = 'canary-sekret';
const problems = (raw: unknown): string[] => validateConfig(raw).problems.map((p) => `${p.path}: ${p.message}`);
const warnings = (raw: unknown): string[] => validateConfig(raw).warnings.map((p) => `${p.path}: ${p.message}`);
const server = (entry: unknown): unknown => ({ servers: { github: entry } });

describe('validateConfig', () => {
  it('CFG-3 reports everything at once, with paths, expectations and the nearest names', () => {
    const found = problems({
      timoutMs: 3,
      cache: 'yes',
      approval: 'trustfirst',
      discovery: { timeoutMs: '10s', maxParalelDiscoveries: 3 },
      toolRules: [{ pattern: '' }, { pattern: '*', enabled: 'no' }, { patern: 'x' }, { pattern: ['/(?=x)/', 3] }, 'x'],
      servers: {
        github: { command: 'x', args: '--a', env: { A: 3 }, idleTimeoutMs: -1 },
        'a:b': { url: 'ftp://x.example' },
        both: { url: 'http://x.example', command: 'y', retry: { maxRetries: 99, maxRetrys: 1 } },
        none: {},
        odd: { url: 'https://x.example', type: 'stdio' },
        text: 'npx',
      },
      limits: { callTimeoutMs: 1.5 },
      http: { port: 99_999 },
    });
    const withoutReasons = found.map((line) => line.replace(/(invalid pattern "[^"]*").*/, '$1'));
    expect(withoutReasons.toSorted()).toEqual(
      [
        'timoutMs: unknown key; did you mean "timeoutMs"?',
        'cache: expected true or false or an object, found the string "yes"',
        'approval: expected one of "trust-first", "manual", "off", "lock", found the string "trustfirst"; did you mean "trust-first"?',
        'discovery.timeoutMs: expected a whole number, found the string "10s"',
        'discovery.maxParalelDiscoveries: unknown key; did you mean "maxParallelDiscoveries"?',
        'toolRules[0].pattern: must not be empty',
        'toolRules[1].enabled: expected true or false, found the string "no"',
        'toolRules[2].pattern: is missing; expected a string or a list',
        'toolRules[2].patern: unknown key; did you mean "pattern"?',
        'toolRules[3].pattern[0]: invalid pattern "/(?=x)/"',
        'toolRules[3].pattern[1]: expected a string, found a number',
        'toolRules[4]: expected an object, found a string',
        'servers.github.args: expected a list, found a string',
        'servers.github.env.A: expected a string, found a number',
        'servers.github.idleTimeoutMs: expected at least 0, found -1',
        'servers["a:b"]: an id has 1 to 64 letters, digits, "_", "." or "-"; use "a-b"',
        'servers["a:b"].url: must begin with http:// or https://',
        'servers.both: has both "command" and "url"; keep one of them',
        'servers.both.retry.maxRetries: expected at most 20, found 99',
        'servers.both.retry.maxRetrys: unknown key; did you mean "maxRetries"?',
        'servers.none: needs "command" (a local process) or "url" (a remote server)',
        'servers.odd.type: is "stdio", but the server has a "url"; use "http" or remove it',
        'servers.text: expected an object, found a string',
        'limits.callTimeoutMs: expected a whole number, found 1.5',
        'http.port: expected at most 65535, found 99999',
      ].toSorted(),
    );
  });

  it.each([
    [{ mcpServers: {} }, 'mcpServers: unknown key; did you mean "servers"?'],
    [{ discovry: {} }, 'discovry: unknown key; did you mean "discovery"?'],
    [{ cache: { tllMs: 3 } }, 'cache.tllMs: unknown key; did you mean "ttlMs"?'],
    [server({ comand: 'x', url: 'https://x.example' }), 'servers.github.comand: unknown key; did you mean "command"?'],
    [{ limits: { zzz: 1 } }, 'limits.zzz: unknown key; expected one of callTimeoutMs, callTotalMs,'],
  ])('CFG-3 an unknown key is answered from the shape: %j', (raw, expected) => {
    expect(problems(raw)).toEqual([expect.stringContaining(expected) as string]);
  });

  it.each([
    [{ registry: { url: 'example' } }, 'registry.url: expected an http or https URL, found a string'],
    [{ registry: { url: 3 } }, 'registry.url: expected an http or https URL, found a number'],
    [{ http: { publicUrl: 'ftp://x.example' } }, 'http.publicUrl: expected an http or https URL, found a string'],
    [
      { http: { auth: { oauth: { audience: 'x' } } } },
      'http.auth.oauth.issuer: is missing; expected an http or https URL',
    ],
    [
      { usageMemory: 'locl' },
      'usageMemory: expected true or false or "local", found the string "locl"; did you mean "local"?',
    ],
    [{ usageMemory: 3 }, 'usageMemory: expected true or false or "local", found 3'],
  ])('CFG-3 what is expected is said in words: %j', (raw, expected) => {
    expect(problems(raw)).toEqual([expected]);
  });

  it('CFG-3 what is expected has a name at every place of a config where not any JSON will do', () => {
    const seen: string[] = [];
    const walk = (schema: Schema, path: readonly string[]): void => {
      for (const here of schemasAt(schema, [])) {
        seen.push(`${path.join('.')}: ${expectation([here])}`);
        if (here instanceof z.ZodObject)
          for (const [key, child] of Object.entries(here.shape)) walk(child as Schema, [...path, key]);
        if (here instanceof z.ZodArray) walk(here.element as Schema, [...path, '[]']);
        if (here instanceof z.ZodRecord) walk(here.valueType as Schema, [...path, '{}']);
      }
    };
    walk(Config, []);
    expect(seen.length).toBeGreaterThan(100);
    expect(new Set(seen.filter((each) => each.endsWith('plain data')))).toEqual(
      new Set(['introspectionInputs.{}.{}: plain data']),
    );
  });

  it('CFG-2 one field in both places is an error that names both', () => {
    expect(problems({ timeoutMs: 1, toolRules: [], discovery: { timeoutMs: 1, cache: true } })).toEqual([
      'discovery.timeoutMs: is also given as timeoutMs; keep one of the two',
    ]);
    expect(problems({ discovery: 3 })).toEqual(['discovery: expected an object, found a number']);
    expect(problems({ timeoutMs: 1, discovery: { cache: true, servers: {} } })).toEqual([]);
  });

  it('CFG-2 a field with nothing behind it means its default', () => {
    expect(problems({ servers: null, toolRules: null, discovery: null, cache: undefined })).toEqual([]);
  });

  it.each([
    [null, 'nothing'],
    [undefined, 'nothing'],
    [[], 'a list'],
    ['servers', 'a string'],
    [3, 'a number'],
    [new Date(0), 'a date'],
    [() => ({}), 'a function'],
  ])('CFG-3 %s instead of a config is one clear problem', (raw, found) => {
    expect(problems(raw)).toEqual([`config: expected an object with fields such as "servers", found ${found}`]);
  });

  it('CFG-3 code, dates and cycles inside a config are problems', () => {
    const cycle: Record<string, unknown> = {};
    cycle.ai = cycle;
    expect(problems(cycle)).toEqual([expect.stringContaining('contains itself') as string]);
    expect(problems({ ai: { enabled: true, key: () => 1 }, registry: { since: new Date(0) }, timeoutMs: 3n })).toEqual([
      'ai.key: expected plain data, found a function',
      'registry.since: expected plain data, found a date',
      'timeoutMs: expected plain data, found a bigint',
    ]);
  });

  it('A27 __proto__ is refused wherever it stands and pollutes nothing', () => {
    const raw: unknown = JSON.parse(
      '{"__proto__":{"x":1},"servers":{"__proto__":{"command":"y"},"a":{"command":"z","env":{"__proto__":"1"}}}}',
    );
    expect(problems(raw)).toEqual([
      '__proto__: this name is reserved; choose another',
      'servers.__proto__: this name is reserved; choose another',
      'servers.a.env.__proto__: this name is reserved; choose another',
    ]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('A27 other names of the prototype are ordinary ids and unknown keys', () => {
    const entry = { command: 'x' };
    expect(problems({ servers: { toString: entry, constructor: entry, hasOwnProperty: entry } })).toEqual([]);
    expect(problems({ constructor: 1 })).toEqual([expect.stringMatching(/^constructor: unknown key/) as string]);
    expect(problems({ servers: { a: { command: 'x', toString: 'y' } } })).toHaveLength(1);
  });

  it('A34 line breaks in headers are refused without repeating them', () => {
    const headers = { A: `x\r\nX-Evil: ${CANARY}`, 'B\r\nX': 'y', C: 'z\0', D: 'ok\tfine é', E: '\u2028' };
    const found = problems(server({ url: 'https://x.example', headers }));
    expect(found).toHaveLength(4);
    expect(found.join('\n')).not.toContain(CANARY);
    expect(found.join()).not.toContain('\r');
    expect(problems({ authHeaders: { A: 'a\nb' } })).toHaveLength(1);
  });

  it.each([
    [{ command: 'x', args: ['a\0b'] }, 'servers.github.args[0]: holds a NUL character'],
    [
      { command: 'x', env: { 'A=B': 'c' } },
      'servers.github.env["A=B"]: is not the name of a variable; it must not be empty or contain "="',
    ],
    [{ url: 'nonsense' }, 'servers.github.url: is not a valid URL'],
    [{ url: 'file:///${X}' }, 'servers.github.url: must begin with http'],
    [{ url: 'javascript:alert(1)' }, 'servers.github.url: must begin with http'],
    [{ command: 'x', type: 'http' }, 'servers.github.type: is "http", but the server has a "command"'],
    [{ command: '' }, 'servers.github.command: must not be empty'],
  ])('CFG-3 a bad server is named: %j', (entry, expected) => {
    expect(problems(server(entry))).toEqual([expect.stringContaining(expected) as string]);
  });

  it('CFG-3 a URL made of variables is judged only when they are known', () => {
    expect(problems(server({ url: '${BASE}/mcp' }))).toEqual([]);
    expect(problems(server({ url: 'https://${HOST}/mcp' }))).toEqual([]);
  });

  it('A14 confusable ids are warnings, ids of other scripts are problems with a safe id', () => {
    const entry = { command: 'x' };
    expect(warnings({ servers: { github: entry, GitHub: entry, g1thub: entry } })).toEqual([
      'servers.GitHub: this id differs only by case from "github"; rename one of them',
      'servers.g1thub: this id is easily confused with "github"; rename one of them',
    ]);
    expect(problems({ servers: { gіthub: entry } })[0]).toContain('use "github"');
  });

  it('PAT-3 a rule for an unknown server is a warning, unless servers are imported', () => {
    const raw = {
      servers: { github: { command: 'x' } },
      toolRules: [
        { pattern: '*', server: 'githb', enabled: true },
        { pattern: 'x', server: 'git*', tags: ['t'] },
      ],
    };
    expect(warnings(raw)).toEqual(['toolRules[0].server: no server is called "githb"; did you mean "github"?']);
    expect(warnings({ ...raw, sources: ['cursor'] })).toEqual([]);
    expect(warnings({ toolRules: [{ pattern: '*' }] })).toEqual([
      'toolRules[0]: has no effect; give it "enabled", "confirm" or "tags"',
    ]);
  });

  it.each([
    server(CANARY),
    server({ command: [CANARY] }),
    server({ command: 'x', args: CANARY }),
    server({ command: 'x', args: [{ a: CANARY }] }),
    server({ command: 'x', env: CANARY }),
    server({ command: 'x', env: { A: [CANARY] } }),
    server({ url: `gopher://${CANARY}` }),
    server({ url: `://${CANARY}` }),
    server({ url: 'https://x.example', headers: [CANARY] }),
    { authHeaders: CANARY },
    { store: { url: CANARY } },
    { store: `postgres:me:${CANARY}@db.example/x` },
    { store: `mysql://me:${CANARY}@memory` },
    { discovery: { store: CANARY } },
    { ai: CANARY },
    { servers: [CANARY] },
    { sources: CANARY },
  ])('CFG-4 no value that may be secret is repeated: %j', (raw) => {
    const found = problems(raw);
    expect(found.length).toBeGreaterThan(0);
    expect(found.join()).not.toContain(CANARY);
  });

  it.each([
    ['sqllite', 'expected "sqlite", "memory" or postgres://…; did you mean "sqlite"?'],
    ['SQLite', 'expected "sqlite", "memory" or postgres://…; did you mean "sqlite"?'],
    ['', 'expected "sqlite", "memory" or postgres://…'],
    ['redis', 'expected "sqlite", "memory" or postgres://…'],
    ['redis://memory', 'expected "sqlite", "memory" or postgres://…'],
    ['postgres', 'expected postgres://user@host:port/database'],
    ['postgres://', 'expected postgres://user@host:port/database'],
    ['postgres://db.example/a b', 'expected postgres://user@host:port/database'],
  ])('CFG-3 CFG-6 the store %j is a problem beside all others', (store, message) => {
    expect(problems({ store, timoutMs: 1 })).toEqual([
      'timoutMs: unknown key; did you mean "timeoutMs"?',
      `store: ${message}`,
    ]);
    expect(problems({ discovery: { store } })).toEqual([`discovery.store: ${message}`]);
  });

  it('CFG-3 STORE-3 every kind of store is valid, and a variable that holds one', () => {
    const stores = [
      'sqlite',
      'memory',
      'postgres://db.example/x',
      'PostgreSQL://me:pw@db/x?sslmode=require',
      '${DATABASE_URL}',
    ];
    for (const store of stores) expect(problems({ store })).toEqual([]);
  });

  it('CFG-3 any value whatsoever is judged without throwing', COMPUTES_LONG, () => {
    const known = fc.constantFrom('servers', 'toolRules', 'cache', 'discovery', 'github', 'command', 'url', 'pattern');
    const tree = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.anything(),
        fc.dictionary(fc.oneof(known, fc.string()), tie('node'), { maxKeys: 5 }),
        fc.array(tie('node'), { maxLength: 3 }),
      ),
    })).node;
    fc.assert(
      fc.property(tree, (raw) => {
        for (const { path, message } of validateConfig(raw).problems) {
          expect(path).not.toMatch(/[\r\n]/);
          expect(message).not.toMatch(/[\r\n]/);
        }
      }),
      { numRuns: repetitions(200, 1000) },
    );
  });

  describe('names of before', () => {
    const entry = { command: 'x' };

    it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
      ['timeout: is now called timeoutMs', { timeout: 5 }, { timeoutMs: 5 }],
      ['cache.ttl: is now called ttlMs, in milliseconds: 5000', { cache: { ttl: 5 } }, { cache: { ttlMs: 5000 } }],
      [
        'registry.ttl: is now called ttlMs, in milliseconds: 1500',
        { registry: { ttl: 1.5 } },
        { registry: { ttlMs: 1500 } },
      ],
      [
        'limits.auditRetentionDays: is now called auditRetentionMs, in milliseconds: 43200000',
        { limits: { auditRetentionDays: 0.5 } },
        { limits: { auditRetentionMs: 43_200_000 } },
      ],
      ...['timeout', 'totalTimeout', 'connectTimeout', 'idleTimeout'].map(
        (name): [string, Record<string, unknown>, Record<string, unknown>] => [
          `servers.a.${name}: is now called ${name}Ms`,
          { servers: { a: { ...entry, [name]: 7 } } },
          { servers: { a: { ...entry, [`${name}Ms`]: 7 } } },
        ],
      ),
      [
        'servers.a.toolTimeouts: is now called toolTimeoutsMs',
        { servers: { a: { ...entry, toolTimeouts: { slow: 9 } } } },
        { servers: { a: { ...entry, toolTimeoutsMs: { slow: 9 } } } },
      ],
    ])('CFG-2 %s, and means the same', (warning, old, now) => {
      const checked = checkConfig(old);
      expect(checked.problems).toEqual([]);
      expect(checked.warnings.map(({ path, message }) => `${path}: ${message}`)).toEqual([
        expect.stringContaining(warning),
      ]);
      expect(checked.fields).toEqual(checkConfig(now).fields);
      expect(checkConfig(now).warnings).toEqual([]);
      const [inside] = checkConfig({ discovery: old }).warnings;
      expect(`${inside?.path}: ${inside?.message}`).toContain(`discovery.${warning}`);
      // The same file belongs to another program, which has these names from elsewhere.
      expect(checkConfig({ discovery: old }, true).warnings).toEqual([]);
    });

    it('CFG-3 both names are an error that names both, and a wrong value is reported under the name that was written', () => {
      const both = {
        timeout: 1,
        timeoutMs: 2,
        cache: { ttl: 1, ttlMs: 2 },
        servers: { a: { ...entry, idleTimeout: 1, idleTimeoutMs: 1 } },
      };
      expect(problems(both)).toEqual([
        'timeout: is the old name of timeoutMs, which is given too; keep only timeoutMs',
        'cache.ttl: is the old name of ttlMs, which is given too; keep only ttlMs',
        'servers.a.idleTimeout: is the old name of idleTimeoutMs, which is given too; keep only idleTimeoutMs',
      ]);
      expect(problems({ timeout: 1, discovery: { timeoutMs: 1 } })).toEqual([
        'discovery.timeoutMs: is also given as timeout; keep one of the two',
      ]);
      expect(problems({ cache: { ttl: 'x' }, servers: { a: { ...entry, toolTimeouts: { slow: -1 } } } })).toEqual([
        'cache.ttl: expected a whole number, found the string "x"',
        'servers.a.toolTimeouts.slow: expected at least 0, found -1',
      ]);
    });
  });
});
