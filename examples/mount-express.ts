// The registry and the search inside an app of your own, made with Express 5, for callers that the app knows.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { createToolsApi, createToolscout, type Principal } from '../src/index.js';

const toolscout = await createToolscout({ demo: true, stateDir: 'memory' });
await toolscout.servers.discover();
const reader: Principal = { name: 'reader', scopes: new Set(['read']) };
const api = createToolsApi(toolscout, {
  prefix: '/toolscout',
  groups: ['registry', 'tools'],
  principal: (request) => (request.headers.get('x-session') === 'known' ? reader : undefined),
});

const app = express();
app.get('/', (_request, response) => void response.send('my own app'));
app.use(getRequestListener(api));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

console.log(`app       ${await (await fetch(base)).text()}`);
console.log(`stranger  ${(await fetch(`${base}/toolscout/v1/servers`)).status}`);
const found = await fetch(`${base}/toolscout/v1/search?q=read+a+text+file&limit=1`, {
  headers: { 'x-session': 'known' },
});
const { hits } = (await found.json()) as { hits: Array<{ server: string; tool: string }> };
console.log(`search    ${found.status} ${hits.map(({ server: id, tool }) => `${id}:${tool}`).join(', ')}`);
console.log(`nothing   ${(await fetch(`${base}/toolscout/v1/call`, { method: 'POST' })).status}`);
server.close();
await toolscout.close();
