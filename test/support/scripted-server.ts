import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { isObject, type JsonObject } from '../../src/kernel/json.js';

/** How one request is answered, instead of as a server should. */
export interface ScriptedAnswer {
  /** 200 unless it says otherwise. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of the answer, as it is; without it and without `result` the answer has no body. */
  readonly body?: string;
  /** The result of a proper answer. */
  readonly result?: JsonObject;
  /** The id of a proper answer, where it is to be a wrong one. */
  readonly id?: number;
  /** Fields of a proper answer beside its result, or instead of it. */
  readonly beside?: JsonObject;
  /** Sends a proper answer as an event of a stream. */
  readonly isEvent?: boolean;
}

/** A remote server of the 2025 era that does what a test says. */
export interface ScriptedServer {
  readonly url: string;
  /** The methods that were asked for, in order. */
  readonly methods: readonly string[];
  /** The headers of every request, in order. */
  readonly headers: ReadonlyArray<IncomingMessage['headers']>;
  /** How often a method was asked for. */
  count(method: string): number;
}

/** What a scripted server has, and what it does differently. */
export interface Script {
  readonly tools?: readonly JsonObject[];
  readonly capabilities?: JsonObject;
  /** Answers a request; `undefined` leaves it to the server. `attempt` counts the requests of that method from 1. */
  readonly answer?: (
    method: string,
    params: JsonObject,
    attempt: number,
  ) => ScriptedAnswer | 'silence' | undefined | Promise<ScriptedAnswer | undefined>;
}

/** A tool for a script; what is not said of it is plain. */
export function scriptedTool(name: string, more: JsonObject = {}): JsonObject {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more };
}

async function readJson(request: IncomingMessage): Promise<JsonObject> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  const value: unknown = text === '' ? {} : JSON.parse(text);
  return isObject(value) ? value : {};
}

function properResult(method: string, params: JsonObject, script: Script): JsonObject | undefined {
  const { tools = [scriptedTool('look', { annotations: { readOnlyHint: true } })] } = script;
  if (method === 'initialize') {
    const capabilities = script.capabilities ?? { tools: {} };
    return { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'scripted', version: '1.0.0' } };
  }
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: [...tools] };
  if (method === 'tools/call') return { content: [{ type: 'text', text: `did ${String(params['name'])}` }] };
  return undefined;
}

/** Starts a scripted server in this process; it ends with the test. */
export async function scriptedServer(script: Script = {}): Promise<ScriptedServer> {
  const methods: string[] = [];
  const headers: Array<IncomingMessage['headers']> = [];
  const count = (method: string): number => methods.filter((each) => each === method).length;
  const server = createServer((request, response) => {
    const handle = async (): Promise<void> => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const message = await readJson(request);
      const method = String(message['method']);
      const params = isObject(message['params']) ? message['params'] : {};
      methods.push(method);
      headers.push(request.headers);
      const scripted = await script.answer?.(method, params, count(method));
      if (scripted === 'silence') return;
      if (message['id'] === undefined && !scripted) return void response.writeHead(202).end();
      const result = scripted ? scripted.result : properResult(method, params, script);
      const id = scripted?.id ?? message['id'];
      const proper = result ? { result } : { error: { code: -32601, message: `Unknown method: ${method}` } };
      const body =
        scripted && !scripted.result
          ? scripted.body
          : JSON.stringify({ jsonrpc: '2.0', id: id as number | string, ...proper, ...scripted?.beside });
      const type = scripted?.isEvent ? 'Text/Event-Stream' : 'application/json';
      response.writeHead(scripted?.status ?? 200, { 'content-type': type, ...scripted?.headers });
      response.end(scripted?.isEvent ? `data: ${body}\n\n` : body);
    };
    handle().catch((thrown: unknown) => response.destroy(thrown instanceof Error ? thrown : new Error(String(thrown))));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, methods, headers, count };
}
