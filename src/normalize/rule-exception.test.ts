import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RuleConfig } from '../model/config.js';
import { exceptTool } from './rule-exception.js';
import { compileRules } from './rules.js';

const isOn = (rules: readonly RuleConfig[], server: string, tool: string): boolean =>
  compileRules(rules).decide(server, tool).decision.enabled;

describe('an exception to rules', () => {
  it('PAT-4 narrows the rule that disables, so that no other tool is turned off', () => {
    const rules: RuleConfig[] = [{ pattern: 'delete_*', enabled: false }];
    const next = exceptTool(rules, 'github', 'delete_draft');
    expect(next).toEqual([{ pattern: ['delete_*', '!github:delete_draft'], enabled: false }]);
    expect(isOn(next, 'github', 'delete_draft')).toBe(true);
    expect(isOn(next, 'gitlab', 'delete_draft')).toBe(false);
    expect(isOn(next, 'github', 'read')).toBe(true);
  });

  it('PAT-4 narrows every rule that disables it, and adds it to a list of what is allowed', () => {
    const rules: RuleConfig[] = [
      { pattern: '!read_*', server: 'git*', enabled: false },
      { pattern: ['*draft*'], enabled: false },
      { pattern: 'read_*', enabled: true },
    ];
    const next = exceptTool(rules, 'github', 'delete_draft');
    expect(next).toEqual([
      { pattern: ['!read_*', '!github:delete_draft'], server: 'git*', enabled: false },
      { pattern: ['*draft*', '!github:delete_draft'], enabled: false },
      { pattern: 'read_*', enabled: true },
      { pattern: 'github:delete_draft', enabled: true },
    ]);
    expect(isOn(next, 'github', 'delete_draft')).toBe(true);
    expect(isOn(next, 'github', 'other')).toBe(false);
  });

  it('PAT-4 a rule that names exactly this tool goes, and a list loses its name: nothing dead is left', () => {
    const other: RuleConfig = { pattern: 'delete_*', enabled: false };
    expect(exceptTool([{ pattern: 'env', server: 'files', enabled: false }, other], 'files', 'env')).toEqual([other]);
    expect(exceptTool([other, { pattern: 'files:env', enabled: false }], 'files', 'env')).toEqual([other]);
    expect(exceptTool([{ pattern: ['env', 'stat', '!x'], server: 'files', enabled: false }], 'files', 'env')).toEqual([
      { pattern: ['stat', '!x'], server: 'files', enabled: false },
    ]);
    expect(exceptTool([{ pattern: ['files:env', 'e*'], enabled: false }], 'files', 'env')).toEqual([
      { pattern: ['e*', '!files:env'], enabled: false },
    ]);
    expect(exceptTool([{ pattern: 'files:env', enabled: false, tags: ['risky'] }], 'files', 'env')).toEqual([
      { pattern: 'files:env', tags: ['risky'] },
    ]);
    // Without a server the name is one of every server.
    expect(exceptTool([{ pattern: 'env', enabled: false }], 'files', 'env')).toEqual([
      { pattern: ['env', '!files:env'], enabled: false },
    ]);
  });

  it('PAT-4 what the rule says besides still holds for the tool', () => {
    const next = exceptTool([{ pattern: '*', enabled: false, tags: ['risky'], confirm: true }], 'a', 'b');
    expect(next[1]).toEqual({ pattern: 'a:b', tags: ['risky'], confirm: true });
    const decided = compileRules(next).decide('a', 'b');
    expect(decided).toMatchObject({ decision: { enabled: true }, tags: ['risky'], confirm: { ask: true } });
  });

  it('PAT-4 a tool that is offered needs none', () => {
    const rules: RuleConfig[] = [{ pattern: 'x', enabled: false }];
    expect(exceptTool(rules, 'a', 'b')).toBe(rules);
  });

  it('PAT-4 whatever the rules and the names are, one tool is turned on and every other stays as it was', () => {
    const name = fc.stringMatching(/^[ab*?[\]{}!/\\,]{1,4}$/);
    const pattern = fc.constantFrom('*', 'a*', '!b*', '?', '*b', '!a', 's:*', '!t:a*', '/^a/', 'a', 'ab', 's:a');
    const rule = fc.record(
      {
        pattern: fc.oneof(pattern, fc.array(pattern, { minLength: 1, maxLength: 3 })),
        server: fc.constantFrom('s', 't', '*'),
        enabled: fc.boolean(),
        tags: fc.constant(['x']),
      },
      { requiredKeys: ['pattern'] },
    );
    const server = fc.constantFrom('s', 't');
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 5 }), server, name, fc.array(name), (rules, id, tool, others) => {
        const next = exceptTool(rules as RuleConfig[], id, tool);
        expect(isOn(next, id, tool)).toBe(true);
        for (const other of others) {
          for (const place of ['s', 't']) {
            if (place === id && other === tool) continue;
            const [before, after] = [rules as RuleConfig[], next].map((all) => compileRules(all).decide(place, other));
            expect(after!.decision.enabled).toBe(before!.decision.enabled);
            expect(after!.tags).toEqual(before!.tags);
          }
        }
      }),
    );
  });
});
