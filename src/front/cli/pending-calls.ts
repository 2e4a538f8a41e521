import type { Gateway } from '../../gateway/index.js';
import { addressOf } from '../../kernel/ids.js';
import { ONCE_DAYS, type PendingCall } from '../../model/pending-call.js';
import { ago, inLine } from './render.js';
import type { Terminal } from './terminal.js';

/** What the id of a call that waits looks like; servers and tools are approved by their names. */
const CALL_ID = /^call_[0-9a-f]{12}$/;

/** Whether a reference is the id of a call that waits (SEC-11). */
export function isCallId(ref: string): boolean {
  return CALL_ID.test(ref);
}

/** Characters of arguments on a terminal; `--json` has all of them. */
const MAX_ARGUMENTS = 2000;

function callerOf({ principal, skill }: PendingCall): string {
  return skill === undefined ? principal : `${principal} (skill ${skill})`;
}

/** A pending call on several lines: its caller, its arguments, and how to decide. */
export function describeCall(call: PendingCall, { paint }: Terminal, now: number): string[] {
  const { id, server, tool, state, requestedAt, expiresAt, rule, scope, ruling } = call;
  const whole = JSON.stringify(call.arguments);
  const args = whole.length > MAX_ARGUMENTS ? `${whole.slice(0, MAX_ARGUMENTS)}…` : whole;
  const lines = [
    `${paint.bold(id)}  a call of ${inLine(addressOf(server, tool))}  ${paint.dim(ago(now - requestedAt))}`,
    `  by ${inLine(callerOf(call))}, asked for by ${inLine(rule)}`,
    ...(call.destructive ? ['  the tool says that it may delete or overwrite something'] : []),
    `  arguments ${inLine(args)}`,
  ];
  if (state === 'waiting') {
    const left = Math.max(1, Math.ceil((expiresAt - now) / 60_000));
    if (scope === 'tool') lines.push(`  a yes covers every call of this tool by this caller, for ${ONCE_DAYS} days`);
    lines.push(paint.dim(`  → toolscout approve ${id}   toolscout reject ${id}   (${left} min left)`));
  }
  if (ruling) {
    const reason = ruling.reason === undefined ? '' : `: ${ruling.reason}`;
    lines.push(`  ${state} by ${inLine(`${ruling.by}${reason}`)}, ${ago(now - ruling.at)}`);
  }
  return lines;
}

/** Decides about a call that waits and says so. */
export async function decideCall(
  gateway: Gateway,
  terminal: Terminal,
  verb: 'approve' | 'reject',
  id: string,
  flags: { readonly reason?: string; readonly json?: boolean },
): Promise<void> {
  const { approveCall, rejectCall } = gateway.approvals;
  const options = { by: 'local', ...(flags.reason !== undefined && { reason: flags.reason }) };
  const call = await (verb === 'approve' ? approveCall : rejectCall)(id, options);
  if (flags.json) return terminal.json({ call });
  const address = inLine(addressOf(call.server, call.tool));
  if (verb === 'reject') return terminal.out(`Rejected ${terminal.paint.bold(id)}: ${address} is not called.`);
  const covers =
    call.scope === 'tool'
      ? `${inLine(callerOf(call))} may make this call, and then call ${address} for ${ONCE_DAYS} days with any arguments`
      : `${address} may be called once with exactly these arguments`;
  terminal.out(`Approved ${terminal.paint.bold(id)}: ${covers}.`);
}
