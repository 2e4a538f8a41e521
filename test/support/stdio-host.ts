import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { serveMcpStdio } from '../../src/front/mcp/stdio/stdio.js';
import type { Gateway } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { silentLog, type Log } from '../../src/kernel/log.js';
import { waitUntil } from './fixture.js';

/** A host that has shaken hands over pipes in this process. */
export interface McpHost {
  /** Calls one of the meta-tools. */
  call(name: string, args: JsonObject): Promise<JsonObject>;
  /** What it was told when it connected. */
  readonly instructions: string;
  /** Everything that was received. */
  readonly received: readonly JsonObject[];
}

/** A stdio front over pipes in this process, and every line it writes. */
export function openPipes(
  gateway: Gateway,
  log: Log = silentLog,
): { input: PassThrough; output: PassThrough; received: JsonObject[]; front: ReturnType<typeof serveMcpStdio> } {
  const input = new PassThrough();
  const output = new PassThrough();
  const info = { name: 'toolscout', version: '9.9.9' };
  const front = serveMcpStdio({ gateway, info, log, clock: systemClock, input, output });
  onTestFinished(() => front.close());
  const received: JsonObject[] = [];
  let rest = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) received.push(JSON.parse(line) as JsonObject);
  });
  return { input, output, received, front };
}

/** Connects a host to a gateway. */
export async function connectHost(gateway: Gateway): Promise<McpHost> {
  const { input, received } = openPipes(gateway);
  let last = 0;
  const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const id = (last += 1);
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const isAnswer = (message: JsonObject): boolean => message['id'] === id && message['method'] === undefined;
    await waitUntil(() => received.some(isAnswer), { what: `the answer to ${method}`, timeoutMs: 20_000 });
    return received.find(isAnswer)!;
  };
  const clientInfo = { name: 'test', version: '1' };
  const opened = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  input.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    received,
    instructions: String((opened['result'] as JsonObject)['instructions'] ?? ''),
    async call(name, args) {
      const answer = await ask('tools/call', { name, arguments: args });
      return answer['result'] as JsonObject;
    },
  };
}
