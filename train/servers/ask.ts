import { spawn } from 'node:child_process';
import type { JsonObject, JsonValue } from '../../src/kernel/json.js';

/** What a server said of itself, in the form of the recorded servers. */
export interface Said {
  readonly serverInfo: JsonObject;
  readonly instructions: string;
  readonly tools: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
}

/** A program that was unpacked, and how it is started. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How long a server may take for all answers together. */
const PATIENCE_MS = 40_000;
/** Pages of one list that are asked for. */
const MAX_PAGES = 50;

/** Somebody who owns nothing: what is started is code of strangers. */
const NOBODY = '65534';

interface Answer {
  readonly id?: number;
  readonly result?: JsonObject;
  readonly error?: { readonly message?: string };
}

/** Starts a server without a network and without rights, asks for its lists, and stops it. Needs Linux and root. */
export async function askServer({ file, args, folder, env }: Program): Promise<Said> {
  const isolated = ['-n', '--', 'setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'];
  const child = spawn('unshare', [...isolated, process.execPath, file, ...args], {
    cwd: folder,
    env: { ...env, PATH: process.env['PATH'] ?? '', HOME: folder, NO_COLOR: '1', CI: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const waiting = new Map<number, { resolve: (result: JsonObject) => void; reject: (error: Error) => void }>();
  let complaint = '';
  let rest = '';
  const fail = (message: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(`${message} ${complaint.slice(0, 300)}`.trim()));
    waiting.clear();
  };
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(0, 2000)));
  child.stdout.on('data', (chunk: Buffer) => {
    rest += chunk.toString();
    const lines = rest.split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      if (!line.startsWith('{')) continue;
      let answer: Answer;
      try {
        answer = JSON.parse(line) as Answer;
      } catch {
        // A server that writes its log to stdout: the line is no message.
        continue;
      }
      const asked = answer.id === undefined ? undefined : waiting.get(answer.id);
      if (!asked) continue;
      waiting.delete(answer.id!);
      if (answer.result) asked.resolve(answer.result);
      else asked.reject(new Error(answer.error?.message ?? 'no result'));
    }
  });
  child.on('error', ({ message }) => fail(message));
  child.on('exit', (code) => fail(`The server ended with ${code}.`));
  child.stdin.on('error', ({ message }) => fail(message));
  const timer = setTimeout(() => fail(`No answer within ${PATIENCE_MS} ms.`), PATIENCE_MS);
  let last = 0;
  const write = (message: JsonObject): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: JsonObject): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      write({ id: last, method, params });
    });
  const listAll = async (method: string, key: string): Promise<JsonObject[]> => {
    const all: JsonObject[] = [];
    let cursor: JsonValue | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await ask(method, cursor === undefined ? {} : { cursor });
      all.push(...((result[key] ?? []) as JsonObject[]));
      cursor = result['nextCursor'];
      if (cursor === undefined || cursor === null) break;
    }
    return all;
  };
  try {
    const hello = await ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'collector', version: '1.0.0' },
    });
    write({ method: 'notifications/initialized' });
    const can = (hello['capabilities'] ?? {}) as JsonObject;
    return {
      serverInfo: (hello['serverInfo'] ?? {}) as JsonObject,
      instructions: String(hello['instructions'] ?? ''),
      tools: await listAll('tools/list', 'tools'),
      prompts: can['prompts'] ? await listAll('prompts/list', 'prompts').catch(() => []) : [],
      resources: can['resources'] ? await listAll('resources/list', 'resources').catch(() => []) : [],
      resourceTemplates: can['resources']
        ? await listAll('resources/templates/list', 'resourceTemplates').catch(() => [])
        : [],
    };
  } finally {
    clearTimeout(timer);
    // Its children too: many servers start others.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  }
}
