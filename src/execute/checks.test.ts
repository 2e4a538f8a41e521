import { describe, expect, it } from 'vitest';
import { testTool } from '../../test/support/test-tool.js';
import type { Tool } from '../model/tool.js';
import type { Call } from '../model/call.js';
import type { Server } from '../model/server.js';
import { approvalCheck, bindingCheck, createReadOnlyCheck, ruleCheck, shownCheck } from './checks.js';

const tool = (overrides: Partial<Tool> = {}): Tool => testTool('fs', 'delete_file', overrides);

describe('checks', () => {
  it('PAT-5 a disabled tool is refused, and the refusal says which rule decided', () => {
    const decision = { enabled: false, rule: 1, reason: 'rule 2 (pattern "*delete*")' };
    for (const disabled of [tool({ status: 'disabled', decision }), tool({ decision })]) {
      expect(() => ruleCheck({ tool: disabled })).toThrow(
        expect.objectContaining({
          code: 'TOOL_DISABLED',
          message: '"fs:delete_file" is disabled: rule 2 (pattern "*delete*").',
          delivered: false,
        }),
      );
    }
    ruleCheck({ tool: tool() });
  });

  it('PAT-4 PAT-5 a tool that no rule enables is refused, and the advice blames no rule', () => {
    const decision = {
      enabled: false,
      reason: 'no rule enables it, and a rule with enabled: true in toolRules disables every tool that no rule enables',
    };
    expect(() => ruleCheck({ tool: tool({ status: 'disabled', decision }) })).toThrow(
      expect.objectContaining({
        code: 'TOOL_DISABLED',
        message:
          '"fs:delete_file" is disabled: no rule enables it, and a rule with enabled: true in toolRules disables every tool that no rule enables.',
        suggestion: 'Choose another tool, or add a rule that enables this one.',
      }),
    );
  });

  it('DISC-6 only tools that the server itself listed can be run', () => {
    for (const provenance of ['parsed', 'guessed', 'declared', 'predicted'] as const) {
      expect(() => ruleCheck({ tool: tool({ provenance }) })).toThrow(
        expect.objectContaining({ code: 'TOOL_DISABLED', message: expect.stringContaining(provenance) }),
      );
    }
  });

  it('SEC-9 a tool that waits for approval or has changed is refused', () => {
    expect(() => approvalCheck({ tool: tool({ status: 'pending' }) })).toThrow(
      expect.objectContaining({ code: 'APPROVAL_REQUIRED' }),
    );
    expect(() => approvalCheck({ tool: tool({ status: 'quarantined' }) })).toThrow(
      expect.objectContaining({ code: 'TOOL_CHANGED', severity: 'SEVERE' }),
    );
    approvalCheck({ tool: tool() });
  });

  it('SEC-9 a tool that was rejected or is suspect is refused whatever its status, and nothing is sent', () => {
    const refusal = (of: Partial<Tool>): unknown => {
      try {
        approvalCheck({ tool: tool(of) });
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    };
    const held = (cause: 'rejected' | 'suspect') => ({ cause, reason: 'somebody said so' });
    expect(refusal({ hold: held('rejected') })).toMatchObject({
      code: 'APPROVAL_REQUIRED',
      message: '"fs:delete_file" cannot be called: somebody said so.',
      remedy: { kind: 'undo-rejection', ref: 'fs:delete_file' },
      delivered: false,
    });
    expect(refusal({ hold: held('rejected'), status: 'quarantined' })).toMatchObject({
      code: 'TOOL_CHANGED',
      remedy: { kind: 'undo-rejection' },
    });
    expect(refusal({ hold: held('suspect') })).toMatchObject({
      code: 'APPROVAL_REQUIRED',
      message: '"fs:delete_file" cannot be called: somebody said so.',
      remedy: { kind: 'review', ref: 'fs:delete_file' },
      delivered: false,
    });
    expect(refusal({ status: 'pending' })).toMatchObject({
      message: '"fs:delete_file" cannot be called: it waits for approval.',
      delivered: false,
    });
    expect(refusal({ status: 'quarantined' })).toMatchObject({
      message: '"fs:delete_file" is quarantined: it changed after it was trusted.',
      remedy: { kind: 'review-change', ref: 'fs:delete_file' },
      delivered: false,
    });
  });

  it('SEC-9 PAT-5 what is shown is neither disabled nor held, except for what a fallback found and marked', () => {
    const decision = { enabled: false, reason: 'a rule' };
    expect(() => shownCheck({ tool: tool({ decision }) })).toThrow(expect.objectContaining({ code: 'TOOL_DISABLED' }));
    expect(() => shownCheck({ tool: tool({ status: 'pending' }) })).toThrow(
      expect.objectContaining({ code: 'APPROVAL_REQUIRED' }),
    );
    shownCheck({ tool: tool({ provenance: 'guessed', status: 'disabled' }) });
    shownCheck({ tool: tool() });
  });

  const subject = (call: Partial<Call>) => ({
    call: call as Call,
    server: { id: 'fs' } as Server,
    tool: tool(),
  });

  it('NEG-5 a skill uses only what one of its bindings covers; who is no skill is not asked', () => {
    const seen: string[] = [];
    const viewer = (isCovered: boolean, id?: string) =>
      ({
        sees: (...names: string[]) => {
          seen.push(names.join(':'));
          return isCovered;
        },
        ...(id !== undefined && { skill: { id } }),
      }) as unknown as Call['viewer'];
    bindingCheck(subject({ viewer: viewer(false) }));
    bindingCheck(subject({ viewer: viewer(true, 'notes') }));
    expect(() => bindingCheck(subject({ viewer: viewer(false, 'notes') }))).toThrow(
      expect.objectContaining({
        code: 'FORBIDDEN',
        message:
          'The skill "notes" may not use "fs:delete_file": none of the capabilities in its skill.md is bound to it.',
        remedy: { kind: 'check-skill', skill: 'notes' },
        delivered: false,
      }),
    );
    expect(seen).toEqual(['fs:delete_file', 'fs:delete_file']);
  });

  it('META-10 a call that must only read is refused where the tool does not count as one that does', () => {
    const check = createReadOnlyCheck(({ name }) => (name === 'delete_file' ? 'it says nothing about it' : undefined));
    check(subject({ readOnly: false }));
    check({ ...subject({ readOnly: true }), tool: tool({ name: 'read_file' }) });
    expect(() => check(subject({ readOnly: true }))).toThrow(
      expect.objectContaining({
        code: 'FORBIDDEN',
        message: '"fs:delete_file" does not count as read-only: it says nothing about it.',
        remedy: { kind: 'call-with-effects' },
        delivered: false,
      }),
    );
  });
});
