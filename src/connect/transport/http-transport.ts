import {
  SseError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { sleep, type Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { LIMITS } from '../../kernel/limits.js';
import { mebibytes } from '../../kernel/text.js';
import { INSTANCE_HEADER, LOOP_REMEDY, VIA_HEADER, type Lineage } from '../../protocol/lineage.js';
import type { HttpTransport } from '../../model/server.js';
import { withSession } from '../oauth/fetch.js';
import type { SignInSession } from '../oauth/session.js';
import { createPlainEvents, plainBody } from './plain-answers.js';
import { ASK_FOR_LESS, createUnsolicitedBudget, cutOff, type UnsolicitedBudget } from './unsolicited.js';
import { MAX_REFUSAL, refusalOf } from '../upstream/errors.js';

/** Waiting for the server to confirm the end of a session is a courtesy, and a short one. */
const FAREWELL_MS = 1000;
/** The longest `Retry-After` that is believed. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;
/** Statuses without a body by definition; a response with one cannot be constructed. */
const BODILESS = new Set([101, 204, 205, 304]);
/** Statuses that say "later", perhaps when. */
const NOT_NOW = new Set([429, 502, 503, 504]);
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** What a remote transport needs to know of the world. */
export interface HttpTransportOptions {
  readonly server: string;
  readonly clock: Clock;
  /** The function that makes requests; the global `fetch` unless a test hands in another. */
  readonly fetch?: typeof globalThis.fetch;
  /** The sign-in whose token goes along with every request; absent where the config has a credential. */
  readonly session?: SignInSession;
  /** Who we are to another toolscout. */
  readonly lineage?: Lineage;
}

/**
 * Milliseconds of a `Retry-After` header, given in seconds or as a date; `undefined` when it is missing or not
 * plausible.
 */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_WAIT_MS);
}

/** Counts the bytes of one message: the whole body of a JSON answer, one event of a stream; `Infinity` for a flood of events. */
function createGauge(stream: boolean, budget: UnsolicitedBudget): (chunk: Uint8Array) => number {
  let bytes = 0;
  let lineBytes = 0;
  let wasReturn = false;
  return (chunk) => {
    if (!stream) return (bytes += chunk.length);
    let largest = 0;
    let from = 0;
    let feed = chunk.indexOf(LINE_FEED);
    let back = chunk.indexOf(CARRIAGE_RETURN);
    for (;;) {
      // The second half of a line end that began with a carriage return.
      if (wasReturn && chunk[from] === LINE_FEED) from++;
      if (from < chunk.length) wasReturn = false;
      if (feed !== -1 && feed < from) feed = chunk.indexOf(LINE_FEED, from);
      if (back !== -1 && back < from) back = chunk.indexOf(CARRIAGE_RETURN, from);
      const to = back !== -1 && (feed === -1 || back < feed) ? back : feed;
      const end = to === -1 ? chunk.length : to;
      bytes += end - from;
      lineBytes += end - from;
      largest = Math.max(largest, bytes);
      if (to === -1) return largest;
      wasReturn = to === back;
      // An empty line ends an event, and with it what the parser holds. Whatever it holds, each of them costs.
      if (lineBytes === 0) {
        if (!budget.spend(0)) return Infinity;
        bytes = 0;
      }
      lineBytes = 0;
      from = to + 1;
    }
  };
}

function boundBody(server: string, response: Response, clock: Clock): Response {
  if (response.body === null || BODILESS.has(response.status)) return response;
  const isStream = response.headers.get('content-type')?.toLowerCase().includes('text/event-stream') === true;
  const measure = createGauge(isStream, createUnsolicitedBudget(clock));
  const events = isStream ? createPlainEvents() : undefined;
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const bytes = measure(chunk);
        if (bytes <= LIMITS.lineBytes) {
          const whole = events ? events.take(chunk) : chunk;
          if (whole) controller.enqueue(whole);
          return;
        }
        const message = `The server "${server}" sent an answer of more than ${mebibytes(LIMITS.lineBytes)}.`;
        const excess = new ToolscoutError('SERVER_CONNECTION_ERROR', message, { suggestion: ASK_FOR_LESS });
        controller.error(bytes === Infinity ? cutOff(server) : excess);
      },
      flush(controller) {
        if (events) controller.enqueue(events.rest());
      },
    }),
  );
  const { status, statusText, headers } = response;
  const answer = new Response(bounded, { status, statusText, headers });
  // Assigning fails where another Response is the global one: that of the HTTP front has only a getter.
  return Object.defineProperty(answer, 'json', { value: async () => plainBody(JSON.parse(await answer.text())) });
}

/** The text of a short body; nothing of one that is long or breaks off. */
async function readShort(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      // Leaving the loop gives the rest up.
      if (bytes > MAX_REFUSAL) return undefined;
      chunks.push(chunk);
    }
  } catch {
    // The status has said what matters.
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function notNow(server: string, response: Response, now: number): Promise<ToolscoutError> {
  const { status, headers } = response;
  const refusal = refusalOf(status, await readShort(response));
  const details = { retryAfterMs: parseRetryAfter(headers.get('retry-after'), now), refusal };
  return status === 429
    ? new ToolscoutError(
        'RATE_LIMITED',
        `The server "${server}" refused the request: too many requests (HTTP 429).`,
        details,
      )
    : new ToolscoutError('SERVER_CONNECTION_ERROR', `The server "${server}" is unavailable (HTTP ${status}).`, details);
}

/** A request that says which toolscouts are in front of it. */
function withVia(init: RequestInit | undefined, lineage: Lineage | undefined): RequestInit | undefined {
  if (!lineage) return init;
  const headers = new Headers(init?.headers);
  headers.set(VIA_HEADER, lineage.via());
  return { ...init, headers };
}

/** Refuses an answer of ourselves, or of a toolscout that has us as a server. */
function refuseLoop(server: string, response: Response, lineage: Lineage | undefined): void {
  const instance = response.headers.get(INSTANCE_HEADER);
  const reason = instance === null ? undefined : lineage?.meet(instance);
  if (reason === undefined) return;
  void response.body?.cancel();
  throw new ToolscoutError('CONFIGURATION_ERROR', `The server "${server}" is not used: ${reason}.`, {
    remedy: LOOP_REMEDY,
    delivered: false,
  });
}

/**
 * A `fetch` that stays at the configured origin and never follows a redirect itself, so that
 * credentials go nowhere else (S11); that bounds what an answer may make us hold (A28); and that
 * turns status 429 and 503 into an error with retryAfterMs.
 */
export function guardFetch(origin: string, options: HttpTransportOptions): typeof globalThis.fetch {
  const { server } = options;
  const send = options.fetch ?? globalThis.fetch;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) {
      const message = `The server "${server}" named an endpoint at another origin (${url.origin}); toolscout sends requests only to ${origin}.`;
      throw new ToolscoutError('SERVER_CONNECTION_ERROR', message, { delivered: false });
    }
    const response = await send(input, { ...withVia(init, options.lineage), redirect: 'manual' });
    refuseLoop(server, response, options.lineage);
    if (NOT_NOW.has(response.status)) throw await notNow(server, response, options.clock.now());
    return boundBody(server, response, options.clock);
  };
}

/** A remote transport, and what ends it in good order. */
export interface RemoteTransport {
  readonly transport: Transport;
  /** Whether an error that the transport reported means that its connection is lost. */
  isLoss(error: Error): boolean;
  /** Ends the session at the server; never fails, never waits long. */
  farewell(): Promise<void>;
}

/** The SDK's transport for a remote server: Streamable HTTP, or HTTP+SSE for old ones. */
export function createRemoteTransport(
  kind: 'http' | 'sse',
  config: HttpTransport,
  options: HttpTransportOptions,
): RemoteTransport {
  const url = parseUrl(config.url, options.server);
  const guarded = guardFetch(url.origin, options);
  // The token is added inside the guard's reach: it goes to the configured origin or nowhere.
  const fetch = options.session ? withSession(guarded, options.session, options.server) : guarded;
  const settings = { requestInit: { headers: { ...config.headers } }, fetch };
  if (kind === 'sse') {
    const transport = new SSEClientTransport(url, settings);
    return {
      transport,
      // An event source reconnects by itself, but to a new session without the state of this one.
      isLoss: (error) => error instanceof SseError,
      farewell: () => Promise.resolve(),
    };
  }
  const transport = new StreamableHTTPClientTransport(url, settings);
  return {
    transport,
    isLoss: () => false,
    async farewell() {
      if (transport.sessionId === undefined) return;
      const tooLate = new AbortController();
      const ended = transport.terminateSession().finally(() => tooLate.abort());
      await Promise.allSettled([Promise.race([ended, sleep(options.clock, FAREWELL_MS, tooLate.signal)])]);
    },
  };
}

function parseUrl(text: string, server: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new ToolscoutError('CONFIGURATION_ERROR', `The url of "${server}" is not an http or https address.`, {
    delivered: false,
  });
}
