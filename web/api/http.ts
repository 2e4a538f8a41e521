import { signal } from '@preact/signals';
import { ApiError, asApiError, readProblem } from './problem.js';
import { createEventReader, type SentEvent } from './event-lines.js';

/** The token that proves that a request comes from this page; set after sign-in. */
export const csrfToken = signal<string | undefined>(undefined);
/** Counts the answers with 401; the app watches it to show the sign-in page. */
export const refusedSignIns = signal(0);

/** What a request sends. */
export interface SendOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly signal?: AbortSignal;
  readonly accept?: string;
}

/** A path with its query; values that are `undefined` or empty are left out. */
export function withQuery(path: string, query: SendOptions['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

async function request(path: string, options: SendOptions): Promise<Response> {
  const { method = options.body === undefined ? 'GET' : 'POST', body, query, accept = 'application/json' } = options;
  const headers: Record<string, string> = { accept, 'x-toolscout-client': 'Studio' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (method !== 'GET' && csrfToken.value !== undefined) headers['x-toolscout-csrf'] = csrfToken.value;
  let response: Response;
  try {
    response = await fetch(withQuery(path, query), {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: options.signal ?? null,
      credentials: 'same-origin',
      cache: 'no-store',
    });
  } catch (thrown) {
    if (options.signal?.aborted) throw thrown;
    throw asApiError(thrown);
  }
  if (response.ok) return response;
  if (response.status === 401 && !path.startsWith('/v1/session')) refusedSignIns.value += 1;
  throw await readProblem(response);
}

/** Sends a request and reads the JSON of its answer. */
export async function send<T>(path: string, options: SendOptions = {}): Promise<T> {
  const response = await request(path, options);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** Sends a request and reads server-sent events until the answer ends. Aborting the signal closes the stream. */
export async function sendForEvents(
  path: string,
  options: SendOptions,
  onEvent: (event: SentEvent) => void,
): Promise<void> {
  const response = await request(path, { ...options, accept: 'text/event-stream' });
  if (!response.body) throw new ApiError(response.status, { detail: 'The answer had no body.' });
  const read = createEventReader();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    for (const event of read(next.value)) onEvent(event);
  }
}
