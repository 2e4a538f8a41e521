import { computed, signal } from '@preact/signals';
import { api } from '../api/client.js';
import { asks, confirmations } from './asks.js';
import { onLiveEvent, reconnects } from './live.js';
import { seesAsAdmin } from './session.js';

/** Another process over the same store may ask or decide without an event here. */
const EVERY_MS = 15_000;

/** How many requests and calls of the store wait. */
const stored = signal(0);

/** How many approvals and calls wait for a decision, also calls that are made at this moment. */
export const waiting = computed(() => stored.value + confirmations(asks.value).length);

/** Counts again. */
export async function countWaiting(): Promise<void> {
  try {
    const [approvals, calls] = await Promise.all([
      api.approvals('pending'),
      seesAsAdmin() ? api.pendingCalls('waiting') : [],
    ]);
    stored.value = approvals.length + calls.length;
  } catch {
    // The views say what is wrong; a number that is not known is not shown.
    stored.value = 0;
  }
}

/** Counts now, after every event about approvals, after a reconnect, and from time to time while the page is looked at. */
export function startWaiting(): () => void {
  const stopEvents = onLiveEvent((event) => {
    if (/^(?:approval|reconsidered|learned|reloaded|calls)$/.test(event.type)) void countWaiting();
  });
  const stopReconnects = reconnects.subscribe(() => void countWaiting());
  const interval = setInterval(() => document.hidden || void countWaiting(), EVERY_MS);
  return () => {
    stopEvents();
    stopReconnects();
    clearInterval(interval);
  };
}
