import { signal } from '@preact/signals';
import { api } from '../../api/client.js';
import { asApiError, type ApiError } from '../../api/problem.js';
import type { SearchAnswer } from '../../api/types.js';
import { reconnects } from '../../app/live.js';
import { goTo, hrefTo, type Route } from '../../app/router.js';

const PAUSE_MS = 60;
const LIMIT = 50;

/** The state of one search page. */
export function createSearch() {
  const query = signal('');
  const server = signal('');
  const answer = signal<SearchAnswer | undefined>(undefined);
  const error = signal<ApiError | undefined>(undefined);
  const active = signal(0);
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** What this page wrote into the address; anything else there was put by someone who goes to another search. */
  let written = '';
  let running: AbortController | undefined;
  const settle = async (own: AbortController): Promise<void> => {
    try {
      const found = await api.search(
        { q: query.value, limit: LIMIT, ...(server.value && { server: server.value }) },
        own.signal,
      );
      if (own.signal.aborted) return;
      answer.value = found;
      error.value = undefined;
      active.value = 0;
    } catch (thrown) {
      if (!own.signal.aborted) error.value = asApiError(thrown);
    }
  };
  const ask = (): void => {
    running?.abort();
    if (query.value.trim() === '') {
      answer.value = undefined;
      error.value = undefined;
      return;
    }
    const own = new AbortController();
    running = own;
    void settle(own);
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      written = hrefTo('search', [], { q: query.value, server: server.value });
      goTo(written, { replace: true, from: 'search' });
      ask();
    }, PAUSE_MS);
  };
  /** Searches for what the address names, where that is not what was typed here. */
  const follow = ({ q = '', server: only = '' }: Route['query'], more = ''): void => {
    const href = hrefTo('search', [], { q, server: only });
    if (href === written && more === '') return;
    written = href;
    clearTimeout(timer);
    query.value = q + more;
    server.value = only;
    ask();
  };
  /** Searches again each time that toolscout is there again, until the returned function is called. */
  const followReconnects = (): (() => void) => {
    const seen = reconnects.peek();
    return reconnects.subscribe((count) => {
      if (count !== seen) ask();
    });
  };
  return { query, server, answer, error, active, ask, later, follow, followReconnects };
}

/** What one search page asks for, and what it found. */
export type Search = ReturnType<typeof createSearch>;
