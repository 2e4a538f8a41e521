import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { HttpAuth } from '../../model/config.js';
import type { BrowserSessions } from './auth/browser-sessions.js';
import { createEventStream, EVENT_HEADERS, EVENT_STREAM, type EventStream } from './event-stream.js';
import { createRequestSlots } from './request-slots.js';
import type { RouteInput } from './route.js';

/** Streams of events at once, for all clients and for one principal: none can take the place of the others (A43). */
const MAX_FOLLOWERS = 1000;
const MAX_FOLLOWERS_EACH = 100;
/** What streams to followers are made of. */
export interface FollowOptions {
  readonly clock: Clock;
  readonly auth: () => HttpAuth | undefined;
  readonly browsers?: BrowserSessions;
}

/** Whether those who may come in are still the same; it is cheap as long as nothing was read again. */
function createAuthWatch(auth: FollowOptions['auth']): () => boolean {
  let known = auth();
  const written = JSON.stringify(known);
  return () => {
    const now = auth();
    if (now === known) return true;
    known = now;
    return JSON.stringify(now) === written;
  };
}

type Followed = Pick<RouteInput<unknown, unknown, unknown>, 'gateway' | 'principal' | 'request' | 'reply'>;

/** Opens a stream of events to a caller; `listen` starts the events and returns the function that stops them. */
export type Follow = (
  input: Followed,
  listen: (stream: EventStream) => (() => void) | Promise<() => void>,
) => Promise<Response>;

/** Streams to followers, so many in all; one ends with the key, the token or the session that opened it. */
export function createFollow({ clock, auth, browsers }: FollowOptions): Follow {
  const followers = createRequestSlots({ total: MAX_FOLLOWERS, each: MAX_FOLLOWERS_EACH });

  return async (
    { gateway, principal, request, reply }: Followed,
    listen: (stream: EventStream) => (() => void) | Promise<() => void>,
  ): Promise<Response> => {
    const leave = followers.enter(principal.name);
    if (!leave) {
      const message = `Too many event streams are open; one client may open ${MAX_FOLLOWERS_EACH}.`;
      throw new ToolscoutError('RATE_LIMITED', message, { retryAfterMs: 10_000 });
    }
    const stops: Array<() => void> = [];
    let isOver = false;
    // After any change of `http.auth` the stream ends; a caller that still has access connects again.
    const isSame = createAuthWatch(auth);
    const mayListen = (): boolean => isSame() && browsers?.isLive(principal) !== false;
    const stream = createEventStream({
      clock,
      signal: request.signal,
      mayListen,
      onClose: () => {
        leave();
        isOver = true;
        for (const stop of stops) stop();
      },
    });
    try {
      const { until } = principal;
      // A token that has expired opens nothing any more.
      if (until !== undefined) {
        const expiry = clock.after(Math.max(0, until - clock.now()), () => stream.end());
        stops.push(() => expiry.cancel());
      }
      stream.send('hello', { time: clock.now() });
      stops.push(await listen(stream));
      const { session } = principal;
      // Signing out ends the open streams of that session too.
      if (session && browsers) stops.push(browsers.onEnd((id) => id === session.id && stream.end()));
      // A reload tells at once who may not come in any more, whatever is listened to.
      stops.push(gateway.onEvent(() => mayListen() || stream.end()));
      // The client may have gone while it was let in.
      if (isOver) for (const stop of stops) stop();
    } catch (thrown) {
      await stream.body.cancel();
      throw thrown;
    }
    return reply(stream.body, { type: EVENT_STREAM, headers: EVENT_HEADERS });
  };
}
