import { Hono } from 'hono';
import type { Gateway, Knowledge } from '../../gateway/index.js';
import { ERROR_TABLE, toToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import type { McpEndpoint } from '../mcp/http.js';
import { guardOrigin } from './guard.js';

/** The HTTP front: the MCP endpoint, whether toolscout lives, and taking over a changed config. */
export function createHttpApp(options: {
  readonly gateway: Gateway;
  readonly mcp: McpEndpoint;
  readonly version: string;
  readonly log: Log;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}): Hono {
  const app = new Hono();
  app.use(guardOrigin({ hosts: options.allowedHosts, origins: options.allowedOrigins }));
  app.all('/mcp', (context) => options.mcp.fetch(context.req.raw));
  app.all('/servers/:server/mcp', (context) =>
    options.mcp.fetch(context.req.raw, { server: context.req.param('server') }),
  );
  app.get('/health', (context) => context.json({ status: 'ok', version: options.version }));
  app.get('/ready', async (context) => {
    const servers = await options.gateway.listServers();
    const count = (...states: Knowledge[]): number =>
      servers.filter(({ knowledge }) => states.includes(knowledge)).length;
    const learning = count('learning');
    return context.json({
      status: learning > 0 ? 'learning' : 'ready',
      servers: servers.length,
      known: count('ready', 'stale'),
      learning,
      failed: count('failed'),
    });
  });
  app.post('/v1/config/reload', async () => {
    try {
      const report: object = await options.gateway.reload();
      return Response.json(report);
    } catch (thrown) {
      const { code, message, suggestion, severity, problems } = toToolscoutError(thrown);
      const body = { code, message, suggestion, severity, problems };
      return Response.json(body, { status: ERROR_TABLE[code].status });
    }
  });
  app.onError((error, context) => {
    // What went wrong is for the log of the operator; a message may hold what a server wrote.
    options.log.error('http.failed', { path: context.req.path, error: error.message });
    return context.json({ error: 'INTERNAL_ERROR', message: ERROR_TABLE.INTERNAL_ERROR.suggestion }, 500);
  });
  app.notFound((context) =>
    context.json(
      { error: 'NOT_FOUND', message: `There is nothing at ${context.req.path}; the MCP endpoint is /mcp.` },
      404,
    ),
  );
  return app;
}
