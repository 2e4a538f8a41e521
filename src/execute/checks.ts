import { ToolscoutError } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import type { Call } from '../model/call.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';

/** A call whose server and tool are known. */
export interface Subject {
  readonly call: Call;
  readonly server: Server;
  readonly tool: Tool;
}

/** A step that lets a call pass, or throws the refusal. */
export type Check = (subject: Subject) => void;

/**
 * Refuses a tool that a rule disables, and one that its server never listed (PAT-5, DISC-6).
 *
 * @throws ToolscoutError `TOOL_DISABLED`; the message says which rule decided.
 */
export function ruleCheck({ tool }: Pick<Subject, 'tool'>): void {
  const address = addressOf(tool.server, tool.name);
  if (tool.provenance !== 'protocol') {
    const message = `"${address}" cannot be run: its server did not list it, it was ${tool.provenance}.`;
    throw new ToolscoutError('TOOL_DISABLED', message, {
      suggestion: 'Use a tool that the server lists; list_tools names them.',
      delivered: false,
    });
  }
  if (tool.status === 'disabled' || !tool.decision.enabled) {
    throw new ToolscoutError('TOOL_DISABLED', `"${address}" is disabled: ${tool.decision.reason}.`, {
      delivered: false,
    });
  }
}

/**
 * Refuses a tool that nobody has approved, and one that changed after it was (SEC-9).
 *
 * @throws ToolscoutError `APPROVAL_REQUIRED` or `TOOL_CHANGED`.
 */
export function approvalCheck({ tool }: Pick<Subject, 'tool'>): void {
  const address = addressOf(tool.server, tool.name);
  if (tool.status === 'pending') {
    throw new ToolscoutError('APPROVAL_REQUIRED', `"${address}" waits for approval.`, { delivered: false });
  }
  if (tool.status === 'quarantined') {
    throw new ToolscoutError('TOOL_CHANGED', `"${address}" changed after it was approved.`, { delivered: false });
  }
}
