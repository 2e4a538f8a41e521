import { addressOf } from '../kernel/ids.js';
import type { Remedy } from '../kernel/remedy.js';
import type { HoldCause } from './approval.js';

/** Why a tool, prompt, resource or template is not offered for lack of trust (SEC-9). */
export interface ItemHold {
  readonly cause: HoldCause;
  /** One phrase for people. */
  readonly reason: string;
  /**
   * What is decided about where no request about the item itself exists: the request about its server (`server`), the lock
   * file (`lock`), or the stored record, which a newer version wrote (`newer-record`) or which could not be read (`store`).
   */
  readonly decidedBy?: 'server' | 'lock' | 'newer-record' | 'store';
}

/** What can be done about a hold of an item; an item is named as the approvals name it. */
export function remedyOfHold(server: string, item: string, { cause, decidedBy }: ItemHold): Remedy {
  const ref = addressOf(server, item);
  switch (decidedBy) {
    case 'server':
      return { kind: 'review-change', ref: server };
    case 'lock':
      return { kind: 'accept-lock' };
    case 'newer-record':
      return { kind: 'configure', what: 'Update toolscout, or use another store.' };
    case 'store':
      return { kind: 'diagnose', first: 'Try again in a moment' };
    case undefined:
      if (cause === 'rejected') return { kind: 'undo-rejection', ref };
      return { kind: cause === 'changed' ? 'review-change' : 'review', ref };
  }
}

/** Why a tool is not offered for lack of trust; a status alone says it too. */
export function holdOf({ hold, status }: { readonly hold?: ItemHold; readonly status: string }): ItemHold | undefined {
  if (hold) return hold;
  if (status === 'pending') return { cause: 'waiting', reason: 'it waits for approval' };
  if (status === 'quarantined') return { cause: 'changed', reason: 'it changed after it was trusted' };
  return undefined;
}
