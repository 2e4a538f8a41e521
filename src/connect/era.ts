import { Client, type PriorDiscovery } from '@modelcontextprotocol/client';
import { ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import { EVERY_CAPABILITY } from '../model/host.js';
import { modernEnvelope } from './upstream-envelope.js';
import type { Requests } from './upstream-requests.js';
import { httpStatusOf, rpcCodeOf } from './upstream-errors.js';

/** The modern revision this client speaks. */
const MODERN_VERSION = '2026-07-28';
/** A server that says nothing for so long to the question whether it is modern is not. */
const PROBE_MS = 1500;
/** Over HTTP every request is answered somehow; silence is a slow network. */
const REMOTE_PROBE_MS = 5000;

const METHOD_NOT_FOUND = -32601;
const UNSUPPORTED_VERSION = -32022;

/** What was found out about the era of a server, to be remembered per server and credential (CONN-1). */
export interface Verdict {
  readonly kind: 'modern' | 'legacy';
  /** What a modern server said about itself; without it the verdict cannot be used. */
  readonly discover?: JsonObject;
  /** A modern server that refused the older handshake: it is not tried again. */
  readonly only?: boolean;
  /** Wall-clock time. */
  readonly decidedAt: number;
  /** How a remote server is reached: many old ones know HTTP+SSE only. */
  readonly transport?: 'http' | 'sse';
}

/** Who we are, and how long and until when a connection may take. */
export interface Terms {
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** What a legacy server is told we can do; a modern one is told with every request. */
  readonly capabilities: JsonObject;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with what a modern server says about itself when it says so too late to matter this time. */
  readonly onLate?: (discover: JsonObject) => void;
}

/** One way to a server, not yet spoken over. */
export interface Link {
  readonly requests: Requests;
  readonly pid?: number;
  /** Ends it; resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** A link over which the SDK client has come to terms with the server. */
export interface Connected {
  readonly link: Link;
  readonly client: Client;
  readonly verdict: Omit<Verdict, 'decidedAt'>;
}

/** Whether an answer to `server/discover` is that of a server we can speak to in the modern way. */
function isModern(discover: unknown): discover is JsonObject {
  return (
    isObject(discover) &&
    Array.isArray(discover['supportedVersions']) &&
    discover['supportedVersions'].includes(MODERN_VERSION) &&
    isObject(discover['capabilities'])
  );
}

/** The verdict as the SDK client takes it; `undefined` when it does not suffice to connect. */
function toPrior(verdict: Omit<Verdict, 'decidedAt'>): PriorDiscovery | undefined {
  if (verdict.kind === 'legacy') return { kind: 'legacy' };
  return isModern(verdict.discover)
    ? {
        kind: 'modern',
        discover: verdict.discover as unknown as Extract<PriorDiscovery, { kind: 'modern' }>['discover'],
      }
    : undefined;
}

/** Settles with the promise, or with the reason of the signal as soon as that is aborted. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

async function attach(link: Link, terms: Terms, client: Client, prior?: PriorDiscovery): Promise<Client> {
  try {
    const options = { timeout: terms.timeoutMs, signal: terms.signal, ...(prior && { prior }) };
    await untilAborted(client.connect(link.requests.transport, options), terms.signal);
  } catch (thrown) {
    void link.close();
    // How a child ended says more than that the connection is closed.
    throw link.requests.reason ?? thrown;
  }
  const version = client.getNegotiatedProtocolVersion();
  const modern = client.getProtocolEra() === 'modern' && version !== undefined;
  link.requests.setEnvelope(modern ? modernEnvelope(version, terms.clientInfo, EVERY_CAPABILITY) : undefined);
  return client;
}

const newClient = (terms: Terms): Client => new Client(terms.clientInfo, { capabilities: { ...terms.capabilities } });

/** Connects on the strength of a verdict, without asking; `undefined` when the verdict does not suffice. */
export async function connectAs(
  verdict: Omit<Verdict, 'decidedAt'>,
  open: () => Promise<Link>,
  terms: Terms,
): Promise<Connected | undefined> {
  const prior = toPrior(verdict);
  if (!prior) return undefined;
  const link = await open();
  return { link, client: await attach(link, terms, newClient(terms), prior), verdict };
}

async function askDiscover(
  link: Link,
  terms: Terms,
  timeoutMs: number,
  onLate?: (found: JsonObject) => void,
): Promise<JsonObject> {
  await link.requests.transport.start();
  const params = { _meta: modernEnvelope(MODERN_VERSION, terms.clientInfo) };
  link.requests.setEnvelope(modernEnvelope(MODERN_VERSION, terms.clientInfo));
  try {
    return await link.requests.request('server/discover', params, {
      timeoutMs,
      signal: terms.signal,
      ...(onLate && { onLate }),
    });
  } finally {
    link.requests.setEnvelope(undefined);
  }
}

/**
 * Finds out the era of a child by asking it on the pipe it will be used with: starting it a second
 * time only to ask would double the cost of every first start.
 */
export async function negotiateChild(open: () => Promise<Link>, terms: Terms): Promise<Connected> {
  let link = await open();
  let late: JsonObject | undefined;
  try {
    const discover = await askDiscover(link, terms, PROBE_MS, (found) => {
      if (!isModern(found)) return;
      late = found;
      terms.onLate?.(found);
    });
    const connected =
      isModern(discover) && (await connectAs({ kind: 'modern', discover }, () => Promise.resolve(link), terms));
    if (connected) return connected;
  } catch (thrown) {
    if (terms.signal.aborted) {
      void link.close();
      throw thrown;
    }
    // An error or silence is how an old server answers; one that could not bear the question is started again.
    if (link.requests.closed) link = await open();
  }
  const remaining = link;
  try {
    const client = await attach(remaining, terms, newClient(terms), { kind: 'legacy' });
    // It was modern, only slow to say so: next time it is spoken to as such.
    const verdict = late ? { kind: 'modern' as const, discover: late } : { kind: 'legacy' as const };
    return { link: remaining, client, verdict };
  } catch (thrown) {
    const code = rpcCodeOf(thrown);
    if (terms.signal.aborted || (code !== UNSUPPORTED_VERSION && code !== METHOD_NOT_FOUND && !late)) throw thrown;
    return connectSlowModern(open, terms, late, thrown);
  }
}

/** A server that was silent at first and then refused the old handshake can only be modern. */
async function connectSlowModern(
  open: () => Promise<Link>,
  terms: Terms,
  late: JsonObject | undefined,
  refusal: unknown,
): Promise<Connected> {
  const link = await open();
  try {
    const discover = late ?? (await askDiscover(link, terms, terms.timeoutMs));
    const connected = await connectAs({ kind: 'modern', discover }, () => Promise.resolve(link), terms);
    if (connected) return connected;
  } catch (thrown) {
    void link.close();
    throw thrown;
  }
  void link.close();
  throw refusal;
}

/** Statuses with which an endpoint that knows HTTP+SSE only refuses a POST. */
const SSE_ONLY = new Set([400, 404, 405]);

/** Finds out the era and the transport of a remote server. */
export async function negotiateRemote(
  open: (kind: 'http' | 'sse') => Promise<Link>,
  type: 'http' | 'sse',
  terms: Terms,
): Promise<Connected> {
  if (type === 'sse') return connectLegacy('sse');
  try {
    const client = new Client(terms.clientInfo, {
      capabilities: { ...terms.capabilities },
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(REMOTE_PROBE_MS, terms.timeoutMs) } },
    });
    const link = await open('http');
    await attach(link, terms, client);
    const discover = client.getDiscoverResult() as JsonObject | undefined;
    return {
      link,
      client,
      verdict: { kind: client.getProtocolEra() ?? 'legacy', ...(discover && { discover }), transport: 'http' },
    };
  } catch (thrown) {
    if (terms.signal.aborted) throw thrown;
    if (isTimeout(thrown)) return connectLegacy('http');
    if (!SSE_ONLY.has(httpStatusOf(thrown) ?? 0)) throw thrown;
    // The refusal of the newer transport is the better explanation when the old one fails as well.
    return connectLegacy('sse').catch((second: unknown) => {
      throw terms.signal.aborted ? second : thrown;
    });
  }

  async function connectLegacy(transport: 'http' | 'sse'): Promise<Connected> {
    const link = await open(transport);
    const client = await attach(link, terms, newClient(terms), { kind: 'legacy' });
    return { link, client, verdict: { kind: 'legacy', transport } };
  }
}

function isTimeout(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    !(thrown instanceof ToolscoutError) &&
    (thrown as { code?: unknown }).code === 'REQUEST_TIMEOUT'
  );
}
