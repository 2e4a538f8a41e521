import type { Link, Terms } from './session.js';
import { unlessCancelled } from '../../kernel/async/cancel.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { EVERY_CAPABILITY } from '../../model/host.js';
import { shakeHands, speakModern, speakPlainly } from './pipe-session.js';
import type { Session } from './session.js';
import { modernEnvelope } from '../upstream/envelope.js';
import { rpcCodeOf } from '../upstream/errors.js';
import { RPC_CODE } from '../../protocol/json-rpc.js';

/** The modern revision that is spoken here. */
const MODERN_VERSION = '2026-07-28';
/** A server that says nothing for so long to the question whether it is modern is not. */
const PROBE_MS = 1500;

/** What was found out about the era of a server, to be remembered per server and credential (CONN-1). */
export interface EraDecision {
  /** `plain`: a server that answers requests and knows no handshake (DISC-6). */
  readonly kind: 'modern' | 'legacy' | 'plain';
  /** What a modern server said about itself; without it the verdict cannot be used. */
  readonly discover?: JsonObject;
  /** A modern server that refused the older handshake: it is not tried again. */
  readonly only?: boolean;
  /** Wall-clock time. */
  readonly decidedAt: number;
  /** How a remote server is reached: many old ones know HTTP+SSE only. */
  readonly transport?: 'http' | 'sse';
}

/** A link over which we have come to terms with the server. */
export interface Connected {
  readonly link: Link;
  readonly session: Session;
  readonly verdict: Omit<EraDecision, 'decidedAt'>;
}

/** Whether an answer to `server/discover` is that of a server we can speak to in the modern way. */
export function isModern(discover: unknown): discover is JsonObject {
  return (
    isObject(discover) &&
    Array.isArray(discover['supportedVersions']) &&
    discover['supportedVersions'].includes(MODERN_VERSION) &&
    isObject(discover['capabilities'])
  );
}

/** Comes to terms with the server behind a link; one that fails is closed. */
export async function settle(link: Link, terms: Terms, agree: () => Promise<Session>): Promise<Session> {
  let session: Session;
  try {
    session = await unlessCancelled(agree(), terms.signal);
  } catch (thrown) {
    void link.close();
    // How a child ended says more than that the connection is closed.
    throw link.requests.reason ?? thrown;
  }
  const { era, protocolVersion } = session;
  const modern = era === 'modern';
  link.requests.setEnvelope(modern ? modernEnvelope(protocolVersion, terms.clientInfo, EVERY_CAPABILITY) : undefined);
  return session;
}

const shake = (link: Link, terms: Terms): Promise<Session> => settle(link, terms, () => shakeHands(link, terms));

/** Connects to a child on the strength of a verdict, without asking; `undefined` when the verdict does not suffice. */
export async function connectChildAs(
  verdict: Omit<EraDecision, 'decidedAt'>,
  open: () => Promise<Link>,
  terms: Terms,
): Promise<Connected | undefined> {
  const { kind, discover } = verdict;
  if (kind === 'plain') {
    const link = await open();
    return { link, session: await settle(link, terms, () => speakPlainly(link)), verdict };
  }
  if (kind === 'legacy') {
    const link = await open();
    return { link, session: await shake(link, terms), verdict };
  }
  if (!isModern(discover)) return undefined;
  const link = await open();
  const session = await settle(link, terms, () => speakModern(link, terms, MODERN_VERSION, discover));
  return { link, session, verdict };
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
      isModern(discover) && (await connectChildAs({ kind: 'modern', discover }, () => Promise.resolve(link), terms));
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
    const session = await shake(remaining, terms);
    // It was modern, only slow to say so: next time it is spoken to as such.
    const verdict = late ? { kind: 'modern' as const, discover: late } : { kind: 'legacy' as const };
    return { link: remaining, session, verdict };
  } catch (thrown) {
    const code = rpcCodeOf(thrown);
    if (terms.signal.aborted || (code !== RPC_CODE.unsupportedVersion && code !== RPC_CODE.methodNotFound && !late))
      throw thrown;
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
    const connected = await connectChildAs({ kind: 'modern', discover }, () => Promise.resolve(link), terms);
    if (connected) return connected;
  } catch (thrown) {
    void link.close();
    throw thrown;
  }
  void link.close();
  throw refusal;
}
