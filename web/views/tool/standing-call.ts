import type { JsonObject, PendingCall, ToolDetails } from '../../api/types.js';
import { spelled } from '../../form/same-value.js';
import { formatTime } from '../../text/format.js';
import { beforeRunText } from '../../text/confirm-words.js';

type Standing = Pick<PendingCall, 'state' | 'expiresAt' | 'ruling'>;

/**
 * What was decided, or waits to be decided, about a call of this caller with exactly these arguments. Arguments in which a secret
 * was masked equal no others, so nothing is known about them.
 */
export function standingCall(
  calls: readonly PendingCall[],
  call: { readonly server: string; readonly tool: string; readonly principal: string; readonly args: JsonObject },
  now: number,
): PendingCall | undefined {
  const written = spelled(call.args);
  return calls.findLast(
    ({ server, tool, principal, skill, state, expiresAt, arguments: args }) =>
      server === call.server &&
      tool === call.tool &&
      principal === call.principal &&
      skill === undefined &&
      (state === 'waiting' || state === 'approved' || state === 'rejected') &&
      expiresAt > now &&
      spelled(args) === written,
  );
}

/** What happens to the call when the button is pressed. */
export function confirmText(confirm: NonNullable<ToolDetails['confirm']>, standing: Standing | undefined): string {
  const until = standing && formatTime(standing.expiresAt);
  if (standing?.state === 'approved') return `This call is approved until ${until}: it is sent at once.`;
  if (standing?.state === 'rejected') return `This call was rejected: it is refused until ${until}.`;
  return beforeRunText(confirm);
}

/** Whether the form asks first: not where toolscout asks anyway, or where a person approved exactly this call. */
export function warnsFirst(
  { destructive, confirm }: Pick<ToolDetails, 'destructive' | 'confirm'>,
  { standing, isKnown }: { readonly standing: Pick<Standing, 'state'> | undefined; readonly isKnown: boolean },
): boolean {
  if (destructive !== true) return false;
  // What was decided before is not known to everyone, and then the call may be sent at once.
  return !(isKnown && (confirm?.asks === 'always' || standing !== undefined));
}

/** The warning above the second press of the button. */
export function destructiveText(confirm: ToolDetails['confirm'], standing: Standing | undefined): string {
  const says = 'The server says that this tool may delete or overwrite something.';
  if (standing?.state === 'approved')
    return `${says} The call is approved: it is sent when you press the button again.`;
  if (confirm === undefined) return `${says} It is called when you press the button again.`;
  const isSure = confirm.asks === 'always';
  return `${says} When you press the button again, toolscout ${isSure ? 'asks' : 'may ask'} you for a yes first; without a question the call is sent at once.`;
}
