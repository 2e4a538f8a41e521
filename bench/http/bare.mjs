// A bare Hono route that gives the bytes of a file, and 304 for its tag: what HTTP itself costs.
import { readFileSync } from 'node:fs';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const [, , file, etag] = process.argv;
const body = readFileSync(file);
const headers = { etag, 'content-type': 'application/json', 'cache-control': 'no-cache', 'x-trace-id': 'x'.repeat(36) };
const app = new Hono();
app.get('/v1/tools', (context) =>
  context.req.header('if-none-match') === etag
    ? new Response(null, { status: 304, headers })
    : new Response(body, { headers }),
);
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => {
  process.stdout.write(`listening ${server.address().port}\n`);
});
