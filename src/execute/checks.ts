import { ToolscoutError } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import type { Call } from '../model/call.js';
import type { Server } from '../model/server.js';
import { holdOf, remedyOfHold } from '../model/hold.js';
import { isFallback, notListed, type Tool } from '../model/tool.js';

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
    const message = `"${address}" cannot be called: ${notListed(tool)}.`;
    throw new ToolscoutError('TOOL_DISABLED', message, {
      remedy: { kind: 'find-tool', server: tool.server, listed: true },
      delivered: false,
    });
  }
  if (tool.status === 'disabled' || !tool.decision.enabled) {
    throw new ToolscoutError('TOOL_DISABLED', `"${address}" is disabled: ${tool.decision.reason}.`, {
      remedy: { kind: tool.decision.rule === undefined ? 'add-rule' : 'change-rule' },
      delivered: false,
    });
  }
}

/**
 * Refuses to show a tool that is not offered. One that was found by a fallback is shown where it is marked (DISC-6).
 *
 * @throws ToolscoutError `TOOL_DISABLED`, `APPROVAL_REQUIRED` or `TOOL_CHANGED`.
 */
export function shownCheck({ tool }: Pick<Subject, 'tool'>): void {
  if (isFallback(tool)) return;
  ruleCheck({ tool });
  approvalCheck({ tool });
}

/**
 * Lets a call on behalf of a skill pass only where a binding of that skill covers the tool (NEG-5).
 *
 * @throws ToolscoutError `FORBIDDEN`.
 */
export function bindingCheck({ call: { viewer }, server, tool }: Subject): void {
  if (viewer.skill === undefined || viewer.sees(server.id, tool.name)) return;
  throw forbidden(viewer.skill.id, addressOf(server.id, tool.name));
}

/** The refusal of something that no binding of a skill covers. */
export function forbidden(skill: string, wanted: string): ToolscoutError {
  return new ToolscoutError(
    'FORBIDDEN',
    `The skill "${skill}" may not use "${wanted}": none of the capabilities in its skill.md is bound to it.`,
    {
      remedy: { kind: 'check-skill', skill },
      delivered: false,
    },
  );
}

/**
 * A call that must only read passes only when the tool counts as read-only (META-10); `problemOf` says why it does not.
 *
 * @throws ToolscoutError `FORBIDDEN`.
 */
export function createReadOnlyCheck(problemOf: (tool: Tool) => string | undefined): Check {
  return ({ call, tool }) => {
    const problem = call.readOnly ? problemOf(tool) : undefined;
    if (problem === undefined) return;
    const message = `"${addressOf(tool.server, tool.name)}" does not count as read-only: ${problem}.`;
    throw new ToolscoutError('FORBIDDEN', message, { remedy: { kind: 'call-with-effects' }, delivered: false });
  };
}

/**
 * Refuses a tool that is not approved, and one that changed after its approval (SEC-9).
 *
 * @throws ToolscoutError `APPROVAL_REQUIRED` or `TOOL_CHANGED`.
 */
export function approvalCheck({ tool }: Pick<Subject, 'tool'>): void {
  // Nearly every call is to a tool like this.
  if (tool.status === 'enabled' && !tool.hold) return;
  const address = addressOf(tool.server, tool.name);
  const hold = holdOf(tool);
  if (!hold) return;
  const about = { remedy: remedyOfHold(tool.server, tool.name, hold), delivered: false };
  const isQuarantined = tool.status === 'quarantined';
  if (hold.cause === 'rejected') {
    const code = isQuarantined ? 'TOOL_CHANGED' : 'APPROVAL_REQUIRED';
    throw new ToolscoutError(code, `"${address}" cannot be called: ${hold.reason}.`, about);
  }
  if (isQuarantined && hold.cause !== 'suspect') {
    throw new ToolscoutError('TOOL_CHANGED', `"${address}" is quarantined: ${hold.reason}.`, about);
  }
  throw new ToolscoutError('APPROVAL_REQUIRED', `"${address}" cannot be called: ${hold.reason}.`, about);
}
