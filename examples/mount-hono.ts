// The registry of servers inside an app of your own, made with Hono: GET /v1/tools.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { addToolsApi, createToolscout } from '../src/index.js';

const toolscout = await createToolscout({ demo: true, stateDir: 'memory', learnAtStart: false });
const app = new Hono();
app.get('/', (context) => context.text('my own app'));
addToolsApi(app, toolscout);

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, async ({ port }) => {
  const home = await fetch(`http://127.0.0.1:${port}/`);
  console.log(`app       ${await home.text()}`);
  await (await toolscout.registry.get())?.sync();
  const answer = await fetch(`http://127.0.0.1:${port}/v1/tools?q=memory`);
  const { items } = (await answer.json()) as { items: Array<{ id: string; transport: string }> };
  console.log(`registry  ${answer.status} ${items.map(({ id, transport }) => `${id} (${transport})`).join(', ')}`);
  const unchanged = await fetch(`http://127.0.0.1:${port}/v1/tools?q=memory`, {
    headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
  });
  console.log(`again     ${unchanged.status}`);
  server.close();
  await toolscout.close();
});
