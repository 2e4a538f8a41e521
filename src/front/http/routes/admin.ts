import * as z from 'zod';
import type { Gateway } from '../../../gateway/index.js';
import { AUDIT_OUTCOMES, type AuditFilter, type AuditRecord as Told } from '../../../model/audit-record.js';
import { EVENT_STREAM, wantsEvents, type EventStream } from '../event-stream.js';
import type { Asks } from '../asks.js';
import type { Follow } from '../follow.js';
import { HEAD_PATTERN, readHead } from '../../../model/audit-chain.js';
import { AUDIT_FORMATS } from '../../../model/audit-export.js';
import { STATS_GROUPS } from '../../../model/stats.js';
import { wholeNumber } from '../dispatch/input.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import {
  AuditPage,
  AuditPortion,
  AuditRecord,
  AuditVerification,
  Events,
  Problem,
  ReloadReport,
  ShownConfig,
  Stats,
  StoreAccepted,
} from '../openapi/schemas.js';

/** Characters of the largest event that is sent; a larger one is of no use to a reader. */
const MAX_EVENT = 64 * 1024;

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});
const name = z.string().min(1).max(500);

/** What an operator looks at: the audit log, events as they happen, the config. */
export function adminRoutes({ follow, asks }: { readonly follow: Follow; readonly asks: Asks }): Route[] {
  /** New records, after those that were there where a time or a number asks for them; none is missed or told twice. */
  const listenToAudit = async (
    gateway: Gateway,
    { since, limit, ...filter }: AuditFilter,
    { send }: EventStream,
  ): Promise<() => void> => {
    const early: Told[] = [];
    let tell = (record: Told): unknown => early.push(record);
    // First of all, so that nothing is lost between the past and the future.
    const stop = gateway.audit.follow((record) => tell(record), filter);
    try {
      const wantsPast = since !== undefined || limit !== undefined;
      const past = wantsPast ? (await gateway.audit.list({ ...filter, since, limit })).toReversed() : [];
      const told = new Set(past.map(({ id }) => id));
      tell = (record) => send('record', AuditRecord.parse(record));
      for (const record of [...past, ...early.filter(({ id }) => !told.has(id))]) tell(record);
      // What the past held already may still come once more.
      tell = (record) => told.delete(record.id) || send('record', AuditRecord.parse(record));
      return stop;
    } catch (thrown) {
      stop();
      throw thrown;
    }
  };

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
      handle: (input) =>
        follow(input, ({ send }) => {
          const stops = [
            input.gateway.onEvent((event) => {
              if (JSON.stringify(event).length <= MAX_EVENT) send(event.type, event);
            }),
            input.gateway.studio.followCalls((servers) => send('calls', { type: 'calls', servers })),
            asks.follow(input.principal, () => send('asks', { type: 'asks' })),
          ];
          return () => stops.forEach((stop) => stop());
        }),
    }),
    route({
      id: 'listAudit',
      group: 'admin',
      method: 'GET',
      path: '/v1/audit',
      summary: 'The newest records of the audit log; as server-sent events, the new ones as they come',
      scope: 'admin',
      whole: true,
      query: z.object({
        server: name.optional(),
        tool: name.optional(),
        kind: name.optional(),
        outcome: z.enum(AUDIT_OUTCOMES).optional(),
        since: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({ description: 'Milliseconds since 1970.' }),
        limit: wholeNumber(1, 1000).optional(),
      }),
      responses: {
        200: { description: 'Newest first.', content: { 'application/json': AuditPage, [EVENT_STREAM]: Events } },
        429: problem('Too many follow already.'),
      },
      async handle(input) {
        const { query, gateway, request, reply } = input;
        if (wantsEvents(request)) return follow(input, (stream) => listenToAudit(gateway, query, stream));
        return reply(AuditPage.parse({ records: await gateway.audit.list(query) }));
      },
    }),
    route({
      id: 'verifyAudit',
      group: 'admin',
      method: 'GET',
      path: '/v1/audit/verification',
      summary: 'Whether the audit log is what was written: compares it with its hash chain',
      scope: 'admin',
      whole: true,
      query: z.object({
        head: z
          .string()
          .max(200)
          .regex(HEAD_PATTERN)
          .optional()
          .meta({ description: 'A head of an earlier verification, as `chain:number:hash`.' }),
      }),
      responses: {
        200: { description: 'What was found.', content: { 'application/json': AuditVerification } },
      },
      handle: async ({ query, gateway, reply }) => {
        const head = query.head === undefined ? undefined : readHead(query.head);
        return reply(AuditVerification.parse(await gateway.audit.verify({ heads: head ? [head] : [] })));
      },
    }),
    route({
      id: 'exportAudit',
      group: 'admin',
      method: 'GET',
      path: '/v1/audit/export',
      summary: 'A portion of the audit log as lines for other programs, oldest first',
      scope: 'admin',
      whole: true,
      query: z.object({
        format: z.enum(AUDIT_FORMATS).optional(),
        since: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({ description: 'Milliseconds since 1970.' }),
        after: wholeNumber(0, Number.MAX_SAFE_INTEGER)
          .optional()
          .meta({ description: 'The position of the portion before.' }),
        limit: wholeNumber(1, 1000).optional(),
      }),
      responses: { 200: { description: 'Oldest first.', content: { 'application/json': AuditPortion } } },
      handle: async ({ query, gateway, reply }) => reply(AuditPortion.parse(await gateway.audit.export(query))),
    }),
    route({
      id: 'showStats',
      group: 'admin',
      method: 'GET',
      path: '/v1/stats',
      summary: 'What was used, in tokens, and what loading every tool would have cost',
      scope: 'admin',
      query: z.object({
        by: z.enum(STATS_GROUPS).optional(),
        since: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({ description: 'Milliseconds since 1970.' }),
        until: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({ description: 'Milliseconds since 1970.' }),
        limit: wholeNumber(1, 1000).optional(),
      }),
      responses: { 200: { description: 'Sums of the audit log.', content: { 'application/json': Stats } } },
      handle: async ({ query, gateway, reply }) => reply(Stats.parse(await gateway.audit.stats(query))),
    }),
    route({
      id: 'acceptStore',
      group: 'admin',
      method: 'POST',
      path: '/v1/store/accept',
      summary: 'Accepts a store that vanished, was replaced, was restored from an older copy or was damaged',
      scope: 'admin',
      whole: true,
      responses: { 200: { description: 'What was in doubt.', content: { 'application/json': StoreAccepted } } },
      handle: async ({ gateway, reply }) => reply({ accepted: (await gateway.config.acceptStore())?.reason ?? null }),
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
      handle: async ({ gateway, reply }) => reply(await gateway.config.show()),
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
      handle: async ({ gateway, traceId, reply }) => reply(ReloadReport.parse(await gateway.reload({ traceId }))),
    }),
  ];
}
