// Which files of src/ does one call enter, in which order? The same for a search, and for a list that is learned.
// -- --write puts the lists into ARCHITECTURE.md; -- --json prints them as JSON.
import { readFileSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openGateway } from '../../src/app/open-gateway.js';
import { openHttpFront } from '../../src/app/serve-http.js';
import { serveMcpStdio } from '../../src/front/mcp/stdio/stdio.js';
import { systemClock } from '../../src/kernel/clock.js';
import { isObject, type JsonObject } from '../../src/kernel/json.js';
import { silentLog } from '../../src/kernel/log.js';
import { createFollower } from './follow.js';
import { renderWalks, withWalks, type Walk } from './section.js';

const { values } = parseArgs({ options: { write: { type: 'boolean' }, json: { type: 'boolean' } } });
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'walk', version: '1' } };
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const ECHO = { server: 'one', tool: 'echo', arguments: { message: 'hello' } };
const CALL = { name: 'execute_tool', arguments: ECHO };
const SEARCH = { name: 'search_tools', arguments: { query: 'add two numbers' } };
const BOTH = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

let last = 0;
const request = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: ++last, method, params });

/** Fails when what was measured is a refusal: then it is not the walk of a call. */
function demandSuccess(text: string): void {
  if (/"error":|"isError":true/.test(text)) throw new Error(`The measured request failed: ${text}`);
}

const toolscout = await openGateway({
  stateDir: 'memory',
  config: {
    servers: { one: { command: process.execPath, args: [path('../../test/fixtures/servers/legacy.mjs')] } },
    // A calm call takes the same way; without it memory is measured in between, now and then.
    overload: false,
  },
});
await toolscout.internal.settle(30_000);
// The kernel is the vocabulary of all the others, and not a station.
const follower = await createFollower((file) => !file.startsWith('kernel/'));
const walks: Walk[] = [];
const measure = async (name: string, run: () => Promise<unknown>): Promise<void> => {
  walks.push({ name, files: await follower.follow(run) });
};

await measure('a learned list', () => toolscout.servers.discoverTools('one', { useCache: false }));

const [input, output] = [new PassThrough(), new PassThrough()];
const info = { name: 'toolscout', version: '1' };
const stdio = serveMcpStdio({ gateway: toolscout, info, log: silentLog, clock: systemClock, input, output });
const ask = (message: JsonObject): Promise<void> =>
  new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: string): void => {
      text += chunk;
      const answer = text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown)
        .find((each) => isObject(each) && each['id'] === message['id']);
      if (!answer) return;
      output.off('data', onData);
      try {
        demandSuccess(JSON.stringify(answer));
        resolve();
      } catch (thrown) {
        reject(thrown as Error);
      }
    };
    output.setEncoding('utf8').on('data', onData);
    input.write(`${JSON.stringify(message)}\n`);
  });
await ask(request('initialize', HELLO));
input.write(`${JSON.stringify(INITIALIZED)}\n`);
await ask(request('tools/call', CALL));
await measure('a call over stdio', () => ask(request('tools/call', CALL)));
await measure('a search', () => ask(request('tools/call', SEARCH)));

const http = await openHttpFront({ opened: toolscout, offered: toolscout }, silentLog, {
  stdio: false,
  learnAtStart: false,
  port: 0,
});
const post = async (to: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> => {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { ...BOTH, ...headers } };
  const send = (): Promise<Response> => fetch(`${http.urls[0]}${to}`, init);
  // The connection that is kept may have ended while breakpoints were set; then the request is sent again on a new one.
  const answer = await send().catch(send);
  demandSuccess(await answer.text());
  return answer;
};
const opened = await post('/mcp', request('initialize', HELLO));
const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' };
await post('/mcp', INITIALIZED, session);
await measure('a call over HTTP', () => post('/mcp', request('tools/call', CALL), session));
await measure('a call over the HTTP API', () => post('/v1/call', ECHO, { accept: 'application/json' }));

follower.close();
await http.close();
await stdio.close();
await toolscout.close({ drainMs: 0 });

const page = path('../../ARCHITECTURE.md');
if (values.write) writeFileSync(page, withWalks(readFileSync(page, 'utf8'), walks));
process.stdout.write(values.json ? `${JSON.stringify(walks)}\n` : `${renderWalks(walks)}\n`);
