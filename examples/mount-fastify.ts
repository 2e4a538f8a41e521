// The registry inside an app of your own, made with Fastify 5.
import { fastify } from 'fastify';
import { createToolsApi, createToolscout } from '../src/index.js';

const toolscout = await createToolscout({ demo: true, stateDir: 'memory', learnAtStart: false });
await (await toolscout.registry.get())?.sync();
const api = createToolsApi(toolscout);

const app = fastify();
app.get('/', async () => 'my own app');
app.get('/v1/*', async (request, reply) => {
  const answer = await api(new Request(new URL(request.url, 'http://app'), { headers: request.headers as never }));
  return reply
    .code(answer.status)
    .headers(Object.fromEntries(answer.headers))
    .send(await answer.text());
});
const base = await app.listen({ host: '127.0.0.1', port: 0 });

console.log(`app       ${await (await fetch(base)).text()}`);
const answer = await fetch(`${base}/v1/tools?tag=nothing`);
const { registry_hash: hash, items } = (await answer.json()) as { registry_hash: string; items: unknown[] };
console.log(`registry  ${answer.status} ${hash.slice(0, 7)} ${items.length}`);
const wrong = await fetch(`${base}/v1/tools?alive=perhaps`);
const { problems } = (await wrong.json()) as { problems: Array<{ path: string }> };
console.log(`wrong     ${wrong.status} ${wrong.headers.get('content-type')} ${problems[0]?.path}`);
await app.close();
await toolscout.close();
