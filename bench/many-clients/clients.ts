import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { isObject, type JsonObject } from '../../src/kernel/json.js';

/** What a crowd of clients does. */
export interface Crowd {
  readonly url: string;
  readonly clients: number;
  /** How many of them speak 2026-07-28, without a session; the others have a session each. */
  readonly modern: number;
  readonly calls: number;
  readonly server: string;
  /** A tool that gives back its `message`. */
  readonly tool: string;
}

/** What became of all calls. */
export interface Outcome {
  /** Calls whose answer was that of the caller. */
  readonly matched: number;
  /** Answers that were not; each says what was wrong. */
  readonly wrong: readonly string[];
  readonly sessions: number;
  readonly seconds: number;
}

const REVISION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol';
const clientInfo = { name: 'crowd', version: '1.0.0' };
/** Every request of every client has this id: a mix-up of two clients shows as a wrong answer. */
const ID = 0;
/** Enough to see what went wrong. */
const MAX_SHOWN = 20;

interface Answer {
  readonly status: number;
  readonly session: string | undefined;
  readonly messages: JsonObject[];
}

function parse(type: string, body: string): JsonObject[] {
  const texts = type.includes('text/event-stream')
    ? body.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    : [body];
  return texts.filter((text) => text !== '').map((text) => JSON.parse(text) as JsonObject);
}

function post(url: string, agent: Agent, headers: Record<string, string>, message: JsonObject): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('error', reject);
        response.once('end', () => {
          const session = response.headers['mcp-session-id'];
          resolve({
            status: response.statusCode ?? 0,
            session: typeof session === 'string' ? session : undefined,
            messages: parse(response.headers['content-type'] ?? '', text),
          });
        });
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

/** One client with a connection of its own; it asks one thing after the other, always with the same id. */
async function connect(crowd: Crowd, agent: Agent, isModern: boolean): Promise<(nonce: string) => Promise<Answer>> {
  const name = 'execute_tool';
  const callOf = (nonce: string): JsonObject => ({
    name,
    arguments: { server: crowd.server, tool: crowd.tool, arguments: { message: nonce } },
  });
  if (isModern) {
    const headers = { 'mcp-protocol-version': REVISION, 'mcp-method': 'tools/call', 'mcp-name': name };
    const meta = {
      [`${PREFIX}/protocolVersion`]: REVISION,
      [`${PREFIX}/clientInfo`]: clientInfo,
      [`${PREFIX}/clientCapabilities`]: {},
    };
    return (nonce) =>
      post(crowd.url, agent, headers, { id: ID, method: 'tools/call', params: { ...callOf(nonce), _meta: meta } });
  }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { session, status } = await post(crowd.url, agent, {}, { id: ID, method: 'initialize', params });
  if (session === undefined) throw new Error(`There is no session (HTTP ${status}).`);
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  await post(crowd.url, agent, headers, { method: 'notifications/initialized' });
  return (nonce) => post(crowd.url, agent, headers, { id: ID, method: 'tools/call', params: callOf(nonce) });
}

/** Why an answer is not the one to this nonce; `undefined` when it is. */
function faultOf({ status, messages }: Answer, nonce: string): string | undefined {
  const [message] = messages;
  if (status !== 200 || messages.length !== 1) return `HTTP ${status} with ${messages.length} messages`;
  if (message?.['id'] !== ID) return `the id is ${JSON.stringify(message?.['id'])}`;
  const result = isObject(message['result']) ? message['result'] : {};
  const content = Array.isArray(result['content']) ? result['content'] : [];
  const text = isObject(content[0]) ? content[0]['text'] : undefined;
  if (text === nonce && content.length === 1 && result['isError'] !== true) return undefined;
  return `${nonce} got ${JSON.stringify(message).slice(0, 200)}`;
}

/** Lets a crowd of clients call at once and looks whether each gets its own answers (A9). */
export async function runCrowd(crowd: Crowd): Promise<Outcome> {
  const agent = new Agent({ keepAlive: true, maxSockets: crowd.clients });
  const wrong: string[] = [];
  let left = crowd.calls;
  let matched = 0;
  try {
    const callers: Array<(nonce: string) => Promise<Answer>> = [];
    for (let i = 0; i < crowd.clients; i++) callers.push(await connect(crowd, agent, i < crowd.modern));
    const started = performance.now();
    await Promise.all(
      callers.map(async (call, client) => {
        while (left > 0 && wrong.length < MAX_SHOWN) {
          left -= 1;
          const nonce = `${client}:${left}:${randomUUID()}`;
          const fault = faultOf(await call(nonce), nonce);
          if (fault === undefined) matched += 1;
          else wrong.push(fault);
        }
      }),
    );
    const seconds = (performance.now() - started) / 1000;
    return { matched, wrong, sessions: crowd.clients - crowd.modern, seconds };
  } finally {
    agent.destroy();
  }
}
