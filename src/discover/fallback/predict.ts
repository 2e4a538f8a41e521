import type { JsonObject, JsonValue } from '../../kernel/json.js';
import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import { readPrediction } from './run-strategies.js';
import { readBounded } from '../../net/bounded-body.js';

/** The model that is asked: any endpoint that speaks the OpenAI chat format. */
export interface Predictor {
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly model: string;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

const INSTRUCTIONS =
  'You know the Model Context Protocol servers that are published. Answer with JSON only: ' +
  '{"tools":[{"name":"…","description":"…","inputSchema":{…}}]} with the tools that the named server most likely offers. ' +
  'If you do not know the server, answer {"tools":[]}.';

/**
 * Asks a model which tools a server of that name is likely to have (DISC-8). A failure of any kind
 * yields nothing, never an error; the reason is in the log.
 */
export async function predictTools(
  server: { readonly id: string },
  predictor: Predictor,
  deps: { readonly fetch: typeof fetch; readonly log: Log; readonly signal?: AbortSignal },
): Promise<readonly JsonObject[]> {
  try {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const response = await deps.fetch(`${predictor.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      method: 'POST',
      redirect: 'error',
      signal: deps.signal ? AbortSignal.any([deps.signal, limit]) : limit,
      headers: {
        'content-type': 'application/json',
        ...(predictor.apiKey ? { authorization: `Bearer ${predictor.apiKey}` } : {}),
      },
      body: JSON.stringify({
        model: predictor.model,
        temperature: 0,
        messages: [
          { role: 'system', content: INSTRUCTIONS },
          // The launch may hold secrets of the user; only the name is sent.
          { role: 'user', content: `Server: ${server.id}` },
        ],
      }),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const body = await readBounded(response, MAX_BYTES);
    if (!body) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
    return readPrediction(JSON.parse(new TextDecoder().decode(body)) as JsonValue);
  } catch (thrown) {
    deps.log.warn('discover.unpredicted', { server: server.id, reason: messageOf(thrown) });
    return [];
  }
}
