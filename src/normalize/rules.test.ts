import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../kernel/errors.js';
import type { RuleConfig } from '../model/config.js';
import { compileRules } from './rules.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';

const DEFAULT_ON = 'default: no rule disables it';
const ALLOW_LIST =
  'no rule enables it, and a rule with enabled: true in toolRules disables every tool that no rule enables';

const compileBroken = (): unknown =>
  compileRules([{ pattern: '/(?=x)/', enabled: false }, { pattern: '*' }, { pattern: '*', server: '[a' }]);

describe('PAT-3 a colon inside of brackets', () => {
  it.each(['a[:]go', 'a[:;]go', '/^a[:]go$/', String.raw`/^a\x3ago$/`])('PAT-3 %s disables a:go', (pattern) => {
    const rules = compileRules([{ pattern, enabled: false }]);
    expect(rules.decide('a', 'go').decision.enabled).toBe(false);
    expect(rules.decide('b', 'go').decision.enabled).toBe(true);
  });

  it.each(['g[!:]', '/^g[^:]$/', 'g[0-z]'])('PAT-3 %s still tests the name', (pattern) => {
    const rules = compileRules([{ pattern, enabled: false }]);
    expect(rules.decide('a', 'go').decision.enabled).toBe(false);
  });
});

describe('compileRules', () => {
  it.each<[string, RuleConfig[], string, boolean, string]>([
    ['PAT-4 no rules enable everything', [], 'gh:x', true, DEFAULT_ON],
    [
      'PAT-4 a matching rule disables',
      [{ pattern: '*delete*', enabled: false }],
      'gh:delete_repo',
      false,
      'rule 1 (pattern "*delete*")',
    ],
    [
      'PAT-4 a rule that does not match says nothing',
      [{ pattern: '*delete*', enabled: false }],
      'gh:get',
      true,
      DEFAULT_ON,
    ],
    [
      'PAT-4 one enabling rule makes it an allow-list',
      [{ pattern: 'get_*', enabled: true }],
      'gh:delete_repo',
      false,
      ALLOW_LIST,
    ],
    [
      'PAT-4 the allow-list admits what it names',
      [{ pattern: 'get_*', enabled: true }],
      'gh:get_repo',
      true,
      'rule 1 (pattern "get_*")',
    ],
    [
      'PAT-4 the first matching rule decides: off before on',
      [
        { pattern: '*delete*', enabled: false },
        { pattern: '*', enabled: true },
      ],
      'gh:delete_repo',
      false,
      'rule 1 (pattern "*delete*")',
    ],
    [
      'PAT-4 the first matching rule decides: on before off',
      [
        { pattern: 'delete_tmp', enabled: true },
        { pattern: '*delete*', enabled: false },
      ],
      'gh:delete_tmp',
      true,
      'rule 1 (pattern "delete_tmp")',
    ],
    [
      'PAT-4 a rule without enabled never decides',
      [
        { pattern: '*', tags: ['a'] },
        { pattern: 'x', enabled: false },
      ],
      'gh:x',
      false,
      'rule 2 (pattern "x")',
    ],
    ['PAT-4 tag rules alone leave the default on', [{ pattern: '*', tags: ['a'] }], 'gh:x', true, DEFAULT_ON],
    [
      'PAT-2 a list with a negative entry',
      [{ pattern: ['*github*', '!*delete*'], enabled: true }],
      's:github_delete_repo',
      false,
      ALLOW_LIST,
    ],
    [
      'PAT-2 only negative entries match everything else',
      [{ pattern: ['!get_*', '!list_*'], enabled: false }],
      's:delete_x',
      false,
      'rule 1 (pattern "!get_*", "!list_*")',
    ],
    [
      'PAT-3 a rule of another server does not apply',
      [{ pattern: '*', server: 'slack', enabled: false }],
      'gh:x',
      true,
      DEFAULT_ON,
    ],
    [
      'PAT-3 a rule of this server applies',
      [{ pattern: '*', server: 'gh', enabled: false }],
      'gh:x',
      false,
      'rule 1 (pattern "*", server "gh")',
    ],
    [
      'PAT-3 a server may be a glob',
      [{ pattern: '*', server: 'git{hub,lab}', enabled: false }],
      'gitlab:x',
      false,
      'rule 1 (pattern "*", server "git{hub,lab}")',
    ],
    ['PAT-3 a server is matched whole', [{ pattern: '*', server: 'gh', enabled: false }], 'ghx:x', true, DEFAULT_ON],
    [
      'PAT-3 a pattern with a colon tests the address',
      [{ pattern: 'gh:get_*', enabled: false }],
      'gh:get_x',
      false,
      'rule 1 (pattern "gh:get_*")',
    ],
  ])('%s', (_title, rules, address, enabled, reason) => {
    const [server, tool] = address.split(':') as [string, string];
    expect(compileRules(rules).decide(server, tool).decision).toMatchObject({ enabled, reason });
  });

  it('PAT-4 names the rule that decided, and none when the default did', () => {
    const rules = compileRules([
      { pattern: 'a', tags: ['t'] },
      { pattern: 'a', enabled: false },
    ]);
    expect(rules.decide('s', 'a').decision.rule).toBe(1);
    expect(rules.decide('s', 'b').decision.rule).toBeUndefined();
  });

  it('PAT-4 tags accumulate from all matching rules, in order and once each', () => {
    const rules = compileRules([
      { pattern: '*', tags: ['b', 'a'] },
      { pattern: 'x', enabled: false, tags: ['c', 'a'] },
      { pattern: 'y', tags: ['never'] },
      { pattern: 'x', server: 'other', tags: ['elsewhere'] },
      { pattern: '*x*', enabled: true, tags: ['d'] },
    ]);
    expect(rules.decide('s', 'x').tags).toEqual(['b', 'a', 'c', 'd']);
  });

  it('PAT-1 reports every invalid pattern with its path', () => {
    expect(compileBroken).toThrow(ToolscoutError);
    expect(compileBroken).toThrow(
      expect.objectContaining({
        code: 'CONFIGURATION_ERROR',
        problems: [
          { path: 'toolRules[0].pattern', message: expect.stringContaining('lookahead') as string },
          { path: 'toolRules[2].server', message: expect.stringContaining('never closed') as string },
        ],
      }),
    );
  });

  it.each<[string, RuleConfig[], number[]]>([
    [
      'an earlier *',
      [
        { pattern: '*', enabled: false },
        { pattern: 'x', enabled: true },
      ],
      [1],
    ],
    [
      'the same pattern',
      [
        { pattern: 'x', enabled: false },
        { pattern: 'x', enabled: true },
      ],
      [1],
    ],
    [
      'the same pattern on one server',
      [
        { pattern: 'x*', enabled: false },
        { pattern: 'x*', server: 's', enabled: true },
      ],
      [1],
    ],
    [
      'a name an earlier glob matches',
      [
        { pattern: 'get_*', enabled: true },
        { pattern: 'get_x', enabled: false },
      ],
      [1],
    ],
    [
      'a subset of patterns',
      [
        { pattern: ['a*', 'b*'], enabled: true },
        { pattern: ['b*', '!bc'], enabled: false },
      ],
      [1],
    ],
    [
      'fewer exclusions before',
      [
        { pattern: ['!a'], enabled: true },
        { pattern: ['x*', '!a', '!b'], enabled: false },
      ],
      [1],
    ],
    [
      'a server within a glob',
      [
        { pattern: 'x', server: 'git*', enabled: true },
        { pattern: 'x', server: 'github', enabled: true },
      ],
      [1],
    ],
    [
      'two dead rules',
      [
        { pattern: '*', enabled: true },
        { pattern: 'a', enabled: false },
        { pattern: 'b', enabled: false },
      ],
      [1, 2],
    ],
    [
      'a narrower earlier rule',
      [
        { pattern: 'get_*', enabled: true },
        { pattern: '*', enabled: false },
      ],
      [],
    ],
    [
      'an earlier rule of one server',
      [
        { pattern: '*', server: 's', enabled: true },
        { pattern: 'x', enabled: false },
      ],
      [],
    ],
    [
      'an earlier exclusion',
      [
        { pattern: ['*', '!x'], enabled: true },
        { pattern: 'x', enabled: false },
      ],
      [],
    ],
    [
      'an earlier rule that only tags',
      [
        { pattern: '*', tags: ['t'] },
        { pattern: 'x', enabled: false },
      ],
      [],
    ],
    [
      'a later rule that only tags',
      [
        { pattern: '*', enabled: true },
        { pattern: 'x', tags: ['t'] },
      ],
      [],
    ],
    [
      'overlapping globs',
      [
        { pattern: 'a*', enabled: true },
        { pattern: '*b', enabled: false },
      ],
      [],
    ],
    [
      'a name against an address',
      [
        { pattern: 'g*', enabled: true },
        { pattern: 'gh:x', enabled: false },
      ],
      [],
    ],
    [
      'a wider glob',
      [
        { pattern: 'get*', enabled: true },
        { pattern: 'get_*', enabled: false },
      ],
      [1],
    ],
    [
      'a name that the exclusion of an earlier rule does not touch',
      [
        { pattern: ['*', '!a'], enabled: true },
        { pattern: 'b', enabled: false },
        { pattern: 'b*', enabled: false },
        { pattern: ['b', 'a'], enabled: false },
      ],
      [1, 2],
    ],
    [
      'every server by another name',
      [
        { pattern: '*', server: '?*', enabled: true },
        { pattern: 'x', enabled: false },
      ],
      [1],
    ],
    [
      'every server before any others',
      [
        { pattern: 'x', enabled: true },
        { pattern: 'x', server: '*', enabled: false },
        { pattern: 'x', server: '/s/', enabled: false },
        { pattern: 'x', server: '!s', enabled: false },
      ],
      [1, 2, 3],
    ],
    [
      'a server glob within a wider one',
      [
        { pattern: 'x', server: 'git*', enabled: true },
        { pattern: 'x', server: 'git{hub,lab}*', enabled: false },
      ],
      [1],
    ],
    [
      'all alternatives before',
      [
        { pattern: ['get_a', 'get_b'], enabled: true },
        { pattern: 'get_{a,b}', enabled: false },
      ],
      [1],
    ],
    [
      'all alternatives before, in several rules',
      [
        { pattern: 'get_a', enabled: true },
        { pattern: 'get_b', enabled: false },
        { pattern: 'get_{a,b}', enabled: false },
        { pattern: 'get_{a,b,c}', enabled: false },
      ],
      [2],
    ],
    [
      'an address within a glob of addresses',
      [
        { pattern: 'gh:*', enabled: true },
        { pattern: 'gh:get_*', enabled: false },
        { pattern: 'get_*', enabled: false },
      ],
      [1],
    ],
    [
      'every address',
      [
        { pattern: '?*:*', enabled: true },
        { pattern: 'x', enabled: false },
      ],
      [1],
    ],
    [
      'an exclusion that may be about the same tool',
      [
        { pattern: ['*', '!s:*'], enabled: true },
        { pattern: 'b', enabled: false },
      ],
      [],
    ],
    [
      'an exclusion that overlaps',
      [
        { pattern: ['*', '!*a'], enabled: true },
        { pattern: 'b*', enabled: false },
      ],
      [],
    ],
    [
      'an earlier rule for all servers but one',
      [
        { pattern: '*', server: '!s', enabled: true },
        { pattern: 'x', server: 't', enabled: false },
        { pattern: 'x', server: 's', enabled: false },
        { pattern: 'x', enabled: false },
      ],
      [1],
    ],
    [
      'an earlier regex',
      [
        { pattern: '/^get_/', enabled: true },
        { pattern: 'get_a', enabled: false },
        { pattern: 'get_*', enabled: false },
        { pattern: '/^get_/', enabled: false },
      ],
      [1, 3],
    ],
  ])('PAT-4 warns of rules that can never decide: %s', (_title, rules, dead) => {
    expect(compileRules(rules).warnings.map((warning) => warning.path)).toEqual(
      dead.map((index) => `toolRules[${index}]`),
    );
  });

  it('PAT-4 the warning says which rule decides instead', () => {
    const rules = compileRules([
      { pattern: '*', enabled: false },
      { pattern: 'x', enabled: true, tags: ['t'] },
    ]);
    expect(rules.warnings[0]?.message).toContain('toolRules[0] always decides first; its tags still apply');
  });

  it('PAT-4 SEC-11 confirm is decided by the first rule that has it, apart from enabled; the warning says what is left', () => {
    const rules = compileRules([
      { pattern: 'a*', confirm: false },
      { pattern: '*', confirm: 'once', enabled: true },
      { pattern: 'b*', confirm: true, enabled: false, tags: ['t'] },
      { pattern: 'c*', confirm: true },
    ]);
    expect(rules.decide('s', 'a1')).not.toHaveProperty('confirm');
    expect(rules.decide('s', 'b1').confirm).toEqual({ ask: 'once', reason: 'rule 2 (pattern "*")' });
    expect(rules.warnings.map(({ path, message }) => [path, message.replace(/;[^;]*$/, '')])).toEqual([
      ['toolRules[2]', 'can never decide, because toolRules[1] always decides first; its confirm and tags still apply'],
      [
        'toolRules[2]',
        'its confirm can never decide, because toolRules[1] always decides first; its enabled and tags still apply',
      ],
      ['toolRules[3]', 'its confirm can never decide, because toolRules[1] always decides first'],
    ]);
  });

  it(
    'PAT-4 thousands of rules with hundreds of thousands of alternatives are compiled without looking through them all',
    COMPUTES_LONG,
    () => {
      const many = Array.from({ length: 3000 }, (_, i) => ({
        pattern: `{a,b,c,d}_{e,f,g,h}_{1,2,3,4}_${i}`,
        enabled: true,
      }));
      const { warnings } = compileRules([{ pattern: 'x', enabled: true }, { pattern: 'x', enabled: true }, ...many]);
      expect(warnings.map(({ path }) => path)).toEqual(['toolRules[1]']);
    },
  );

  it('PAT-4 the warning names all rules that decide instead', () => {
    const { warnings } = compileRules([
      { pattern: 'a', enabled: false },
      { pattern: 'b', enabled: false },
      { pattern: '{b,a}', enabled: true },
    ]);
    expect(warnings[0]?.message).toContain('because toolRules[0] and toolRules[1] always decide first');
  });

  it('PAT-4 a rule that is warned of never decides, whatever the tool', COMPUTES_LONG, () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '*',
      '?',
      '[ab]',
      '[!a]',
      '{a,b}',
      '{a,b*}',
      '[:]',
      ':',
      's',
      's:',
      String.raw`\*`,
    );
    const glob = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(''));
    const known = fc.constantFrom('*', '?*', '*:*', 's:a', 's:*', '/a/', '/^s:/', '/[:]a/', '{a,b}', 'b');
    const pattern = fc.tuple(fc.constantFrom('', '', '!'), fc.oneof(glob, known)).map((parts) => parts.join(''));
    const server = fc.constantFrom(
      's',
      't',
      '*',
      '{s,t}',
      '?',
      '?*',
      '!s',
      '[st]',
      '/s/',
      '!{s,t}',
      '!/s/',
      's*',
      'st',
    );
    const rule = fc.record({
      pattern: fc.array(pattern, { minLength: 1, maxLength: 3 }),
      server: fc.option(server, { nil: undefined }),
      enabled: fc.boolean(),
    });
    const names = [
      'a',
      'b',
      'ab',
      'ba',
      'c',
      '',
      's',
      's:a',
      ':',
      '*',
      'aa',
      'bb',
      'b:a',
      'sa',
      'abc',
      'cc',
      'ac',
      'ca',
    ];
    let warned = 0;
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 5 }), (configs) => {
        const rules = compileRules(configs);
        const dead = new Set(rules.warnings.map((warning) => warning.path));
        warned += dead.size;
        if (dead.size === 0) return;
        for (const id of ['s', 't', 'u', 'st']) {
          for (const name of names) {
            expect(dead).not.toContain(`toolRules[${rules.decide(id, name).decision.rule}]`);
          }
        }
      }),
      { numRuns: repetitions(300, 1500) },
    );
    // A law about warnings proves nothing without a warning.
    expect(warned).toBeGreaterThan(10);
  });
});
