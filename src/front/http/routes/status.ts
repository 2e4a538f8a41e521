import type { Knowledge } from '../../../gateway/index.js';
import { route, type Route } from '../route.js';
import { AnyObject, Health, Metrics, Ready } from '../openapi/schemas.js';

/** The content type of the text format of Prometheus. */
const PROMETHEUS = 'text/plain; version=0.0.4';

/** Whether toolscout lives, what it has counted, and what it offers here. */
export function statusRoutes(options: {
  readonly version: string;
  readonly metrics: () => Promise<string>;
  readonly openApi: (request: Request) => string;
}): Route[] {
  return [
    route({
      id: 'health',
      group: 'status',
      method: 'GET',
      path: '/health',
      isProbe: true,
      summary: 'That toolscout lives',
      responses: {
        200: {
          description:
            'It does. It is `degraded` when nothing can be stored, or when the store must be accepted, and `overloaded` while new calls are refused.',
          content: { 'application/json': Health },
        },
      },
      async handle({ gateway, reply }) {
        const { writable, doubt } = await gateway.config.storeStatus();
        const { version } = options;
        const isCalm = gateway.internal.overload().level === 'calm';
        if (writable && !doubt) return reply({ status: isCalm ? 'ok' : 'overloaded', version });
        // The message of the file system names paths, and the health check needs no key.
        const problem = writable
          ? `The store was replaced, restored or damaged (${doubt?.reason}); no server is used until it is accepted.`
          : 'Nothing can be stored: approvals, audit records and lists are kept in memory only.';
        return reply({ status: 'degraded', version, store: { writable, accepted: !doubt, problem } });
      },
    }),
    route({
      id: 'ready',
      group: 'status',
      method: 'GET',
      path: '/ready',
      isProbe: true,
      summary: 'How much of what is configured is known',
      responses: {
        200: {
          description: 'Numbers of servers; `degraded` when nothing can be stored.',
          content: { 'application/json': Ready },
        },
        503: {
          description: 'No server is used until the store is accepted.',
          content: { 'application/json': Ready },
        },
      },
      async handle({ gateway, reply }) {
        const { doubt, writable } = await gateway.config.storeStatus();
        const servers = await gateway.servers.list();
        const count = (...states: Knowledge[]): number =>
          servers.filter(({ knowledge }) => states.includes(knowledge)).length;
        const learning = count('learning');
        const counts = {
          servers: servers.length,
          known: count('ready', 'stale'),
          learning,
          failed: count('failed'),
        };
        if (doubt) return reply({ status: 'store-unaccepted', ...counts }, { status: 503 });
        // Searches and calls go on from memory, so it stays in service.
        if (!writable) return reply({ status: 'degraded', ...counts });
        return reply({ status: learning > 0 ? 'learning' : 'ready', ...counts });
      },
    }),
    route({
      id: 'metrics',
      group: 'status',
      method: 'GET',
      path: '/metrics',
      summary: 'Measurements for Prometheus',
      scope: 'read',
      whole: true,
      responses: { 200: { description: 'The text format.', content: { 'text/plain': Metrics } } },
      handle: async ({ reply }) => reply(await options.metrics(), { type: PROMETHEUS }),
    }),
    route({
      id: 'openApi',
      group: 'status',
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      responses: { 200: { description: 'OpenAPI 3.1.', content: { 'application/json': AnyObject } } },
      handle: ({ request, reply }) => reply(options.openApi(request)),
    }),
  ];
}
