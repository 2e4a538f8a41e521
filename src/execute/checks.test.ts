import { describe, expect, it } from 'vitest';
import { testTool } from '../../test/support/test-tool.js';
import type { Tool } from '../model/tool.js';
import { approvalCheck, ruleCheck } from './checks.js';

const tool = (overrides: Partial<Tool> = {}): Tool => testTool('fs', 'delete_file', overrides);

describe('checks', () => {
  it('PAT-5 a disabled tool is refused, and the refusal says which rule decided', () => {
    const decision = { enabled: false, rule: 1, reason: 'toolRules[1] (pattern "*delete*")' };
    for (const disabled of [tool({ status: 'disabled', decision }), tool({ decision })]) {
      expect(() => ruleCheck({ tool: disabled })).toThrow(
        expect.objectContaining({
          code: 'TOOL_DISABLED',
          message: '"fs:delete_file" is disabled: toolRules[1] (pattern "*delete*").',
          delivered: false,
        }),
      );
    }
    ruleCheck({ tool: tool() });
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
});
