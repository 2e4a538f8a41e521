import type { ToolDetails } from '../api/types.js';

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
