import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { AddressInfo } from 'node:net';
import { anthropic } from './anthropic.js';
import { chatCompletions } from './chat-completions.js';
import type { Dialect, Json, OfferedTool, Reply, Turn } from './dialect.js';
import { gemini } from './gemini.js';
import { responses } from './responses.js';

/** A call the model makes, by the name toolscout gave the tool. */
export interface Step {
  readonly name: string;
  readonly args: object;
}

/** What reached the model. */
export interface Seen {
  /** Model requests, without those for titles and the like that offer no tools. */
  turns: number;
  /** Every tool that was ever offered, by the name the model saw. */
  readonly tools: Map<string, OfferedTool>;
  /** Tools of the first request: what costs tokens before anything is searched. */
  first: readonly string[];
  prompt: string;
  /** Descriptions of groups of tools. */
  readonly groups: Set<string>;
  /** Results of the steps, in order. */
  answers: string[];
  /** Paths that nothing answers. */
  readonly unknown: Set<string>;
  /** Why a step could not be made. */
  problem?: string;
}

/** A model on 127.0.0.1 that makes the given calls one after the other and ends. */
export interface ModelStub {
  readonly url: string;
  readonly seen: Seen;
  close(): Promise<void>;
}

const DIALECTS: readonly Dialect[] = [anthropic, chatCompletions, responses, gemini];
const MODELS = ['stub-model'];
/** How often the model searches with the search of the host before it gives up. */
const MAX_FINDS = 8;

const isFinder = (name: string): boolean => /tool_?search/i.test(name) && !name.endsWith('search_tools');
const matches = (shown: string, name: string): boolean =>
  shown === name || shown.endsWith(`_${name}`) || shown.endsWith(`-${name}`);

/** The name of a tool that the host's search showed but that is never offered itself: a relay tool calls it. */
function findHidden({ results }: Turn, name: string): string | undefined {
  const shown = results.flatMap(({ text }) =>
    [...text.matchAll(/"name":\s*"([^"]+)"/g)].map(([, found]) => found ?? ''),
  );
  return shown.find((found) => matches(found, name));
}

/** The next thing the model says. */
export function decide(
  turn: Turn,
  steps: readonly Step[],
): Reply | { readonly kind: 'stuck'; readonly missing: string } {
  const made = turn.results.filter(({ tool }) => steps.some(({ name }) => matches(tool, name)));
  const step = steps[made.length];
  if (!step) return { kind: 'text', text: 'All calls were made.' };
  const id = `call_${turn.results.length}`;
  const tool = turn.tools.find(({ name }) => matches(name, step.name));
  const finds = turn.results.length - made.length;
  const finder = turn.tools.find(({ name }) => isFinder(name));
  if (tool && !(tool.deferred && finder && finds === 0)) return { kind: 'call', id, tool, args: step.args };
  const relay = turn.tools.find(({ name }) => name === 'tool_call');
  const hidden = relay && findHidden(turn, step.name);
  if (relay && hidden) return { kind: 'call', id, tool: relay, args: { name: hidden, arguments: step.args } };
  if (!finder || finds >= MAX_FINDS) return { kind: 'stuck', missing: step.name };
  const field = (finder.schema as Json)?.required?.[0] ?? 'query';
  return {
    kind: 'call',
    id,
    tool: finder,
    args: { [field]: finds % 2 === 0 ? step.name.split('_').join(' ') : step.name },
  };
}

async function readBody(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  try {
    return JSON.parse(text.toString() || '{}');
  } catch {
    // A form or telemetry: nothing the model has to understand.
    return {};
  }
}

/** Starts the stub; `onRequest` hears every request, for those who look into a host. */
export async function startModelStub(
  steps: readonly Step[],
  onRequest: (path: string, body: Json) => void = () => {},
): Promise<ModelStub> {
  const seen: Seen = {
    turns: 0,
    tools: new Map(),
    first: [],
    prompt: '',
    groups: new Set(),
    answers: [],
    unknown: new Set(),
  };

  const answerTurn = (turn: Turn): Reply => {
    if (turn.tools.length === 0) return { kind: 'text', text: 'Nothing to do.' };
    seen.turns++;
    if (seen.turns === 1) seen.first = turn.tools.filter(({ deferred }) => !deferred).map(({ name }) => name);
    seen.prompt = turn.prompt.length > seen.prompt.length ? turn.prompt : seen.prompt;
    for (const group of turn.groups ?? []) seen.groups.add(group);
    for (const tool of turn.tools) if (!seen.tools.has(tool.name)) seen.tools.set(tool.name, tool);
    seen.answers = turn.results
      .filter(({ tool }) => steps.some(({ name }) => matches(tool, name)))
      .map(({ text }) => text);
    const reply = decide(turn, steps);
    if (reply.kind !== 'stuck') return reply;
    seen.problem = `The host never offered ${reply.missing}.`;
    return { kind: 'text', text: seen.problem };
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const body = await readBody(request);
    onRequest(`${request.method} ${request.url}`, body);
    const dialect = DIALECTS.find((each) => each.matches(path));
    if (dialect && request.method === 'POST') {
      const { type, body: text } = dialect.write(answerTurn(dialect.read(body)), { body, path });
      response.writeHead(200, { 'content-type': type }).end(text);
    } else if (path.endsWith('/models')) {
      const data = MODELS.map((id) => ({ id, object: 'model', type: 'model', name: id }));
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ data, object: 'list', models: data }));
    } else if (/count_?tokens$/i.test(path)) {
      const count = { input_tokens: 1, totalTokens: 1 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(count));
    } else {
      seen.unknown.add(path);
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not found"}}');
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((thrown: unknown) => {
      seen.problem ??= `The model stub failed: ${String(thrown)}`;
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
