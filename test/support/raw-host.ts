import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { isObject, type JsonObject } from '../../src/kernel/json.js';
import { EVERY_CAPABILITY } from '../../src/model/host.js';

/** A host that reads raw lines: a client library might strip the very fields that are looked for. */
export interface RawHost {
  readonly era: 'legacy' | 'modern';
  /** The whole answer to a request. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  /** The result of a tool. */
  call(name: string, args: JsonObject): Promise<JsonObject>;
  /** Every tool, page after page. */
  tools(): Promise<JsonObject[]>;
}

const REVISION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol';
const clientInfo = { name: 'raw', version: '1.0.0' };
const ENVELOPE = {
  [`${PREFIX}/protocolVersion`]: REVISION,
  [`${PREFIX}/clientInfo`]: clientInfo,
  [`${PREFIX}/clientCapabilities`]: {},
};

function resultOf(answer: JsonObject): JsonObject {
  if (isObject(answer['result'])) return answer['result'];
  throw new Error(`There is no result in ${JSON.stringify(answer)}`);
}

/** Speaks to a process over its pipes, in the newest era it knows unless told which, and ends it after the test. */
export async function rawHost(
  child: ChildProcess,
  era?: RawHost['era'],
  capabilities: JsonObject = {},
): Promise<RawHost> {
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr?.resume();
  const waiting = new Map<unknown, (message: JsonObject) => void>();
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (!line.startsWith('{')) return;
    const message = JSON.parse(line) as JsonObject;
    if (message['method'] === undefined) waiting.get(message['id'])?.(message);
    // Asked back, it has nothing to give.
    else if (message['id'] !== undefined) send({ id: message['id'], result: { roots: [] } });
  });
  const send = (message: JsonObject): void =>
    void child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let last = 0;
  let envelope: JsonObject | undefined = ENVELOPE;
  const ask = (method: string, params: JsonObject = {}): Promise<JsonObject> =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      send({ id: last, method, params: envelope ? { ...params, _meta: envelope } : params });
    });

  const discovered = era === 'legacy' ? {} : await ask('server/discover');
  const versions = isObject(discovered['result']) ? discovered['result']['supportedVersions'] : undefined;
  const isModern = Array.isArray(versions) && versions.includes(REVISION);
  if (!isModern) {
    envelope = undefined;
    await ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    send({ method: 'notifications/initialized' });
  }
  return {
    era: isModern ? 'modern' : 'legacy',
    ask,
    call: async (name, args) => resultOf(await ask('tools/call', { name, arguments: args })),
    async tools() {
      const all: JsonObject[] = [];
      let cursor: unknown;
      do {
        const page = resultOf(await ask('tools/list', typeof cursor === 'string' ? { cursor } : {}));
        all.push(...(page['tools'] as JsonObject[]));
        cursor = page['nextCursor'];
      } while (cursor !== undefined);
      return all;
    },
  };
}

/** Starts a server with nothing of this process's environment but the path, and speaks to it directly. */
export function startRaw(
  entry: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  },
  era?: RawHost['era'],
): Promise<RawHost> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...entry.env };
  return rawHost(spawn(entry.command, entry.args, { stdio: 'pipe', env }), era, EVERY_CAPABILITY);
}
