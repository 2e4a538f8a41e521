import { sleep } from '../../kernel/clock.js';
import { hideIn, messageOf, ToolscoutError, toToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Host } from '../../model/host.js';
import type { Upstream } from '../../model/upstream.js';
import type { Core } from '../core.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { requireServer } from '../viewer.js';

/** Resources watched at once for one principal, and for all: one cannot take the places of the others (A43). */
const MAX_WATCHED_EACH = 1000;
const MAX_WATCHED = 2000;
/** A lost subscription is made again, at first soon. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

interface Watched {
  readonly principal: string;
  readonly server: string;
  readonly uri: string;
  readonly host: Host | undefined;
  readonly onUpdate: (params: JsonObject) => void;
  readonly stop: AbortController;
}

/** Asks a server to announce changes of a resource; the answer ends that. */
async function begin(upstream: Upstream, { uri, host }: Watched): Promise<() => Promise<void>> {
  if (upstream.watch) return upstream.watch(uri);
  await upstream.request('resources/subscribe', { uri }, { host });
  return async () => {
    if (!upstream.closed) await upstream.request('resources/unsubscribe', { uri }, { host });
  };
}

/** Resolves when the connection has ended or the signal is aborted. */
function over(upstream: Upstream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const off = upstream.onClose(() => resolve());
    const done = (): void => {
      off();
      resolve();
    };
    if (signal.aborted) done();
    signal.addEventListener('abort', done, { once: true });
  });
}

/** The verb that watches resources, and what ends all of it. */
export function subscribingVerbs(core: Core): {
  readonly verbs: VerbTable<'hosts.subscribe'>;
  readonly stop: () => void;
} {
  const { pool, clock, log } = core.deps;
  const watched = new Set<Watched>();

  pool.onEvent((event) => {
    if (event.type !== 'notification' || event.method !== 'notifications/resources/updated') return;
    const { params = {} } = event;
    for (const each of watched) {
      if (each.server === event.server && each.uri === params['uri'] && isOpen(each)) each.onUpdate({ uri: each.uri });
    }
  });

  /** Whether updates of the resource may still be sent: it may be held since the subscription (A39). */
  const isOpen = ({ server, uri }: Watched): boolean => {
    try {
      core.catalog.items(server)?.check('resources/subscribe', { uri });
      return true;
    } catch (thrown) {
      log.debug('gateway.update-held', { server, reason: messageOf(thrown) });
      return false;
    }
  };

  /** Watches until it is stopped or the connection is lost; `begun` is called when the server has agreed. */
  const watch = async (entry: Watched, begun: () => void): Promise<void> => {
    const { signal } = entry.stop;
    const server = core.usable(entry.server);
    const { pace, use } = pool.access(server, { signal, principal: entry.host?.id });
    await pace();
    // The connection counts as used while it is watched, so it is not closed as idle.
    const watchOn = async (upstream: Upstream): Promise<void> => {
      const end = await begin(upstream, entry);
      begun();
      await over(upstream, signal);
      await end();
    };
    await use(watchOn, { host: entry.host });
  };

  const keep = async (entry: Watched, begun: () => void): Promise<void> => {
    const { signal } = entry.stop;
    let pauseMs = FIRST_PAUSE_MS;
    let agreed = false;
    while (!signal.aborted) {
      try {
        await watch(entry, () => {
          agreed = true;
          pauseMs = FIRST_PAUSE_MS;
          begun();
        });
      } catch (thrown) {
        // The first attempt has a caller to reject; later ones only log.
        if (!agreed || signal.aborted) throw thrown;
        log.debug('gateway.watch-lost', { server: entry.server, error: core.hide(messageOf(thrown)) });
      }
      if (signal.aborted) return;
      await sleep(clock, pauseMs, signal).catch((thrown: unknown) => {
        if (!signal.aborted) throw thrown;
      });
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    }
  };

  const verbs = defineVerbs({
    async 'hosts.subscribe'(viewer, server, uri, { host, onUpdate }) {
      requireServer(viewer, server, core.catalog);
      const { principal } = viewer;
      const own = [...watched].filter((each) => each.principal === principal).length;
      if (watched.size >= MAX_WATCHED || own >= MAX_WATCHED_EACH) {
        const limit = own >= MAX_WATCHED_EACH ? `${MAX_WATCHED_EACH} of this caller` : `${MAX_WATCHED}`;
        throw new ToolscoutError('RATE_LIMITED', `The limit of resource subscriptions is reached (${limit}).`, {
          suggestion: 'Unsubscribe from other resources first.',
        });
      }
      await core.filled();
      core.catalog.items(server)?.check('resources/subscribe', { uri });
      const entry: Watched = { principal, server, uri, host, onUpdate, stop: new AbortController() };
      watched.add(entry);
      await new Promise<void>((resolve, reject) => {
        keep(entry, resolve).then(
          () => watched.delete(entry),
          (thrown: unknown) => {
            watched.delete(entry);
            reject(hideIn(toToolscoutError(thrown), core.hide));
          },
        );
      });
      return () => entry.stop.abort();
    },
  });
  return {
    verbs,
    stop() {
      for (const { stop } of watched) stop.abort();
    },
  };
}
