import { signal } from '@preact/signals';
import { api } from '../api/client.js';
import type { Ask } from '../api/types.js';
import { onLiveEvent, reconnects } from './live.js';
import { onForget } from './resource.js';
import { hrefTo, type Route } from './router.js';
import { session } from './session.js';

/** Questions in the middle of calls that wait for this person, of this page and of others. */
export const asks = signal<readonly Ask[]>([]);

/** Counts what was asked for: an answer that a later one, or a sign-out, has overtaken is not shown. */
let asked = 0;

onForget(() => {
  asked += 1;
  asks.value = [];
});

/** Asks which questions wait. */
export async function readAsks(): Promise<void> {
  if (session.value?.scopes.includes('call') === false) return;
  const turn = ++asked;
  // Without an answer of toolscout nothing is known to wait; the views say what is wrong.
  const found = await api.asks().catch(() => []);
  if (turn === asked) asks.value = found;
}

/** Asks now, whenever a question is asked or over, and after a reconnect. */
export function startAsks(): () => void {
  const stopEvents = onLiveEvent(({ type }) => {
    if (type === 'asks' || type === 'hello') void readAsks();
  });
  const stopReconnects = reconnects.subscribe(() => void readAsks());
  return () => {
    stopEvents();
    stopReconnects();
  };
}

/** The page on which a question is answered. */
export function placeOfAsk({ server, tool }: Pick<Ask, 'server' | 'tool'>): string {
  return hrefTo('tool', [server, tool]);
}

/** Questions of toolscout itself, whether a call may be sent: they wait under Approvals too. */
export function confirmations(all: readonly Ask[]): readonly Ask[] {
  return all.filter(({ confirms }) => confirms !== undefined);
}

/** The questions that are not on the page that is open. */
export function asksElsewhere(all: readonly Ask[], { view, parts }: Pick<Route, 'view' | 'parts'>): readonly Ask[] {
  return all.filter(
    ({ server, tool, confirms }) =>
      !(view === 'tool' && parts[0] === server && parts[1] === tool) && !(view === 'approvals' && confirms),
  );
}
