import * as z from 'zod';
import { showConfig } from '../../../gateway/index.js';
import type { Clock, Timer } from '../../../kernel/clock.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { HttpAuth } from '../../../model/config.js';
import { createEventStream, EVENT_HEADERS, EVENT_STREAM } from '../event-stream.js';
import { wholeNumber } from '../input.js';
import { PROBLEM_TYPE } from '../problem.js';
import { route, type Route } from '../route.js';
import { AuditPage, Events, Problem, ReloadReport, ShownConfig } from '../schemas.js';

/** Followers of events at once. */
const MOST_FOLLOWERS = 100;
/** An event larger than this is of no use to somebody who follows along. */
const LARGEST_EVENT = 64 * 1024;

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});
const name = z.string().min(1).max(500);

/** What these routes are made of. */
interface AdminOptions {
  readonly clock: Clock;
  readonly auth: () => HttpAuth | undefined;
}

/** Whether those who may come in are still the same; it is cheap as long as nothing was read again. */
function createAuthWatch(auth: AdminOptions['auth']): () => boolean {
  let known = auth();
  const written = JSON.stringify(known);
  return () => {
    const now = auth();
    if (now === known) return true;
    known = now;
    return JSON.stringify(now) === written;
  };
}

/** What whoever runs toolscout looks at: the audit log, events as they happen, the config. */
export function adminRoutes({ clock, auth }: AdminOptions): Route[] {
  let followers = 0;

  return [
    route({
      id: 'followEvents',
      group: 'admin',
      method: 'GET',
      path: '/v1/events',
      summary: 'What happens, as server-sent events; stays open',
      scope: 'read',
      responses: {
        200: { description: 'Events, named by their type.', content: { [EVENT_STREAM]: Events } },
        429: problem('Too many follow already.'),
      },
      handle({ gateway, principal, request, reply }) {
        if (followers >= MOST_FOLLOWERS) {
          throw new ToolscoutError('RATE_LIMITED', `${MOST_FOLLOWERS} clients follow already.`, {
            retryAfterMs: 10_000,
          });
        }
        followers += 1;
        let isOver = false;
        let unfollow = (): void => {};
        let expiry: Timer | undefined;
        const stream = createEventStream({
          clock,
          signal: request.signal,
          onClose: () => {
            followers -= 1;
            isOver = true;
            expiry?.cancel();
            unfollow();
          },
        });
        const { until } = principal;
        if (until !== undefined) expiry = clock.after(Math.max(0, until - clock.now()), () => stream.end());
        const isSame = createAuthWatch(auth);
        unfollow = gateway.onEvent((event) => {
          // Whoever still may comes back with a key that is looked at anew.
          if (!isSame()) return stream.end();
          if (JSON.stringify(event).length <= LARGEST_EVENT) stream.send(event.type, event);
        });
        // The client may have gone while it was let in.
        if (isOver) {
          unfollow();
          expiry?.cancel();
        }
        stream.send('hello', { time: clock.now() });
        return reply(stream.body, { type: EVENT_STREAM, headers: EVENT_HEADERS });
      },
    }),
    route({
      id: 'listAudit',
      group: 'admin',
      method: 'GET',
      path: '/v1/audit',
      summary: 'The newest records of the audit log',
      scope: 'admin',
      whole: true,
      query: z.object({
        server: name.optional(),
        tool: name.optional(),
        kind: name.optional(),
        outcome: z.enum(['success', 'failure', 'refused']).optional(),
        since: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({ description: 'Milliseconds since 1970.' }),
        limit: wholeNumber(1, 1000).optional(),
      }),
      responses: { 200: { description: 'Newest first.', content: { 'application/json': AuditPage } } },
      handle: async ({ query, gateway, reply }) => reply(AuditPage.parse({ records: await gateway.audit(query) })),
    }),
    route({
      id: 'showConfig',
      group: 'admin',
      method: 'GET',
      path: '/v1/config',
      summary: 'What is in force; never a secret',
      scope: 'admin',
      whole: true,
      responses: { 200: { description: 'The config.', content: { 'application/json': ShownConfig } } },
      handle: ({ gateway, reply }) => reply(showConfig(gateway.config())),
    }),
    route({
      id: 'reloadConfig',
      group: 'admin',
      method: 'POST',
      path: '/v1/config/reload',
      summary: 'Reads the config again; an invalid one changes nothing',
      scope: 'admin',
      whole: true,
      responses: {
        200: { description: 'What changed.', content: { 'application/json': ReloadReport } },
        400: problem('The config is not valid; `problems` lists everything that is wrong.'),
      },
      handle: async ({ gateway, principal, reply }) =>
        reply(ReloadReport.parse(await gateway.reload({ by: principal.name }))),
    }),
  ];
}
