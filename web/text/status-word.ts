import type { ToolSummary } from '../api/types.js';
import type { Tone } from '../parts/states.js';

/** The status of a tool, and `rejected` where a person has said no to it. */
export type ListedStatus = ToolSummary['status'] | 'rejected';

const WORDS: Readonly<Record<ListedStatus, readonly [word: string, tone: Tone]>> = {
  enabled: ['offered', 'ok'],
  disabled: ['disabled', 'quiet'],
  pending: ['waits for approval', 'warn'],
  // Why it waits stands beside it: it changed, or it shows signs of an attack.
  quarantined: ['waits for approval', 'bad'],
  rejected: ['rejected', 'bad'],
};

/** The status of a tool in a word and a colour: the same word wherever it stands. */
export function statusWord(status: ListedStatus): readonly [word: string, tone: Tone] {
  return WORDS[status];
}
