import type { PendingCall, ToolDetails } from '../api/types.js';
import { whoOf } from './who.js';

type Confirm = NonNullable<ToolDetails['confirm']>;

/** Which calls of a tool need a person's yes. */
export function needsText({ asks }: Pick<Confirm, 'asks'>): string {
  if (asks === 'once') return 'the first call of each caller';
  return asks === 'when' ? 'calls whose arguments fit a condition' : 'each call';
}

/** What happens after the button that runs the tool. */
export function beforeRunText({ asks }: Pick<Confirm, 'asks'>): string {
  if (asks === 'once') return 'toolscout asks you for a yes before your first call is sent.';
  return asks === 'when'
    ? 'toolscout asks you for a yes before the call is sent, if its arguments fit the condition of a rule.'
    : 'toolscout asks you for a yes before the call is sent.';
}

/** What a yes to a pending call covers. */
export function coversText({ scope }: Pick<PendingCall, 'scope'>): string {
  return scope === 'tool'
    ? 'every call of this tool by this caller for 30 days, with any arguments'
    : 'this call with these arguments, once';
}

/** What a caller may do after a yes to a pending call. */
export function approvedText(
  call: Pick<PendingCall, 'scope' | 'server' | 'tool' | 'principal' | 'host'>,
  until: string,
): string {
  const address = `${call.server}:${call.tool}`;
  return call.scope === 'tool'
    ? `Approved. ${whoOf(call)} may make this call until ${until}, and then call ${address} for 30 days with any arguments.`
    : `Approved. ${whoOf(call)} may call ${address} once with these arguments, until ${until}.`;
}
