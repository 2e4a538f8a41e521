import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { fixture } from '../support/fixture.js';
import { workplace } from '../support/toolscout.js';

/** A host that reads raw lines: a client library might strip the very fields that are looked for. */
async function rawHost(child: ChildProcess): Promise<(name: string, args: JsonObject) => Promise<JsonObject>> {
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr?.resume();
  const waiting = new Map<unknown, (message: JsonObject) => void>();
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const message = JSON.parse(line) as JsonObject;
    waiting.get(message['id'])?.(message);
  });
  const send = (message: JsonObject): void =>
    void child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let last = 0;
  const ask = (method: string, params: JsonObject): Promise<JsonObject> =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      send({ id: last, method, params });
    });
  await ask('initialize', {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  });
  send({ method: 'notifications/initialized' });
  return async (name, args) => (await ask('tools/call', { name, arguments: args }))['result'] as JsonObject;
}

it('META-3 what a server answers reaches the host byte for byte, vendor fields and all', async () => {
  const server = fixture('legacy');
  const place = await workplace({ servers: { old: server } });
  const direct = await rawHost(spawn(server.command, server.args, { stdio: 'pipe' }));
  const through = await rawHost(place.start('serve', '--stdio'));
  const calls: Array<[string, JsonObject]> = [
    ['echo', { message: 'grüß \u0000 👋' }],
    ['add', { a: 1, b: 2 }],
    ['image', {}],
    ['fail', {}],
    ['structured', { value: { deep: [1, null, 'x'] } }],
    ['structured', { value: 7 }],
  ];
  for (const [tool, args] of calls) {
    const answer = await through('execute_tool', { server: 'old', tool, arguments: args });
    expect(JSON.stringify(answer)).toBe(JSON.stringify(await direct(tool, args)));
  }
});
