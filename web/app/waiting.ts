import { signal } from '@preact/signals';
import { api } from '../api/client.js';
import { onLiveEvent, reconnects } from './live.js';

/** How many approvals wait for a decision. */
export const waiting = signal(0);

/** Counts again. */
export async function countWaiting(): Promise<void> {
  try {
    waiting.value = (await api.approvals('pending')).length;
  } catch {
    // The views say what is wrong; a number that is not known is not shown.
    waiting.value = 0;
  }
}

/** Counts now, after every event about approvals, and after a reconnect. */
export function startWaiting(): () => void {
  const stopEvents = onLiveEvent((event) => {
    if (/^(?:approval|reconsidered|learned|reloaded|pending-call)$/.test(event.type)) void countWaiting();
  });
  const stopReconnects = reconnects.subscribe(() => void countWaiting());
  return () => {
    stopEvents();
    stopReconnects();
  };
}
