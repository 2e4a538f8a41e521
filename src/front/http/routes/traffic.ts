import * as z from 'zod';
import { AUDIT_OUTCOMES } from '../../../model/audit-record.js';
import type { Payload, TrafficRow } from '../../../model/traffic.js';
import { EVENT_STREAM } from '../event-stream.js';
import type { Follow } from '../follow.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { Events, Problem, TrafficLog } from '../openapi/schemas.js';

const name = z.string().min(1).max(500);

const contentOf = ({ json, bytes }: Payload): object => ({ size: bytes, mimeType: 'application/json', text: json });

/** The status of HTTP that says the same. */
const STATUS: Readonly<Record<TrafficRow['state'], number>> = {
  open: 0,
  success: 200,
  failure: 500,
  refused: 403,
  waiting: 202,
};

/** A row as tools that read HAR files know it: one request, its answer and its times; the row itself is under `_row`. */
function entryOf(row: TrafficRow): object {
  const { at, ms = 0, method, route: door, request, response, state } = row;
  const waited = row.children.filter(({ kind }) => kind === 'upstream');
  const upstream = waited.reduce((sum, { startMs, endMs = startMs }) => sum + endMs - startMs, 0);
  const none = { cookies: [], headers: [], headersSize: -1, httpVersion: 'MCP' };
  return {
    startedDateTime: new Date(at).toISOString(),
    time: ms,
    request: {
      ...none,
      method: 'POST',
      url: `mcp://${door}/${method}`,
      queryString: [],
      bodySize: request.bytes,
      postData: { mimeType: 'application/json', text: request.json },
    },
    response: {
      ...none,
      status: STATUS[state],
      statusText: state,
      redirectURL: '',
      bodySize: response?.bytes ?? -1,
      content: contentOf(response ?? { json: '', bytes: 0 }),
    },
    cache: {},
    timings: { send: 0, wait: Math.min(ms, upstream), receive: Math.max(0, ms - upstream) },
    _row: row,
  };
}

/** What is said between hosts, toolscout and servers (STUDIO-3). */
export function trafficRoutes({ follow, version }: { readonly follow: Follow; readonly version: string }): Route[] {
  return [
    route({
      id: 'followTraffic',
      group: 'studio',
      method: 'GET',
      path: '/v1/traffic',
      summary: 'Requests of hosts and what they led to, as server-sent events; recorded only while a reader follows',
      scope: 'admin',
      query: z.object({
        format: z.enum(['json', 'events']).default('events').meta({ description: '`json`: what is in memory now.' }),
        server: name.optional(),
        tool: name.optional(),
        method: name.optional(),
        principal: name.optional(),
        state: z.enum(['open', ...AUDIT_OUTCOMES]).optional(),
        q: name.optional().meta({ description: 'A text that stands anywhere in a row.' }),
      }),
      responses: {
        200: {
          description: 'Events `row`, one whenever a row is new or has changed; or a log in the form of HAR.',
          content: { [EVENT_STREAM]: Events, 'application/json': TrafficLog },
        },
        429: { description: 'Too many follow already.', content: { [PROBLEM_TYPE]: Problem } },
      },
      handle(input) {
        const { gateway, reply, query } = input;
        const { format, ...filter } = query;
        if (format === 'json') {
          const entries = gateway.studio.traffic(filter).map(entryOf);
          const log = { version: '1.2', creator: { name: 'toolscout', version }, entries };
          const disposition = 'attachment; filename="toolscout-traffic.har"';
          return reply({ log }, { headers: { 'cache-control': 'no-store', 'content-disposition': disposition } });
        }
        return follow(input, ({ send }) => {
          // What is in memory first; nothing happens in between.
          const stop = gateway.studio.followTraffic((row) => send('row', row), filter);
          for (const row of gateway.studio.traffic(filter)) send('row', row);
          return stop;
        });
      },
    }),
  ];
}
