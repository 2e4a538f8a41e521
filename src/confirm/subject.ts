import { hashJson } from '../kernel/hash.js';
import type { Call } from '../model/call.js';
import type { ConfirmRule } from '../model/pending-call.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';

/** A call whose server and tool are known. */
export interface ConfirmSubject {
  readonly call: Call;
  readonly server: Server;
  readonly tool: Tool;
}

/** A call that needs a confirmation, and everything that an answer is bound to. */
export interface AskedCall extends ConfirmSubject {
  readonly rule: ConfirmRule;
  readonly argumentsHash: string;
  /** SHA-256 of caller, tool as it is defined now, and exact arguments: an answer for one never holds for another. */
  readonly binding: string;
}

/** The caller of a call, in a binding: a skill of a caller is another caller. */
function callerOf({ viewer }: Call): [string, string | null] {
  return [viewer.principal, viewer.skill?.id ?? null];
}

/** What an answer to this call is bound to. */
export function bindCall(subject: ConfirmSubject, rule: ConfirmRule): AskedCall {
  const { call, server, tool } = subject;
  const argumentsHash = hashJson(call.arguments);
  const binding = hashJson([...callerOf(call), server.id, server.digest, tool.name, tool.hash, argumentsHash]);
  return { ...subject, rule, argumentsHash, binding };
}

/** What a confirmation that holds for all calls of a tool is bound to. */
export function toolBinding({ call, server, tool }: ConfirmSubject): string {
  return hashJson([...callerOf(call), server.id, server.digest, tool.name, tool.hash]);
}
