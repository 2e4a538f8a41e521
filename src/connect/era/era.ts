import type { Channel, Terms } from './session.js';
import { unlessCancelled } from '../../kernel/async/cancel.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { EVERY_CAPABILITY } from '../../model/host.js';
import { shakeHands, speakModern, speakPlainly } from './pipe-session.js';
import type { NegotiatedSession } from './session.js';
import { modernEnvelope } from '../upstream/envelope.js';
import { rpcCodeOf } from '../upstream/errors.js';
import { RPC_CODE } from '../../protocol/json-rpc.js';

/** The modern revision that is spoken here. */
const MODERN_VERSION = '2026-07-28';
/** A server that says nothing for so long to the question whether it is modern is not. */
const PROBE_MS = 1500;

/** What was found out about the era of a server, to be remembered per server and credential (CONN-1). */
export interface EraDecision {
  /** `plain`: a server that answers requests without a handshake (DISC-6). */
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

/** A channel with a negotiated session. */
export interface Connected {
  readonly channel: Channel;
  readonly session: NegotiatedSession;
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

/** Negotiates a session over a channel; closes the channel on failure. */
export async function settle(
  channel: Channel,
  terms: Terms,
  agree: () => Promise<NegotiatedSession>,
): Promise<NegotiatedSession> {
  let session: NegotiatedSession;
  try {
    session = await unlessCancelled(agree(), terms.signal);
  } catch (thrown) {
    void channel.close();
    // How a child ended says more than that the connection is closed.
    throw channel.requests.reason ?? thrown;
  }
  const { era, protocolVersion } = session;
  const modern = era === 'modern';
  channel.requests.setEnvelope(
    modern ? modernEnvelope(protocolVersion, terms.clientInfo, EVERY_CAPABILITY) : undefined,
  );
  return session;
}

const shake = (channel: Channel, terms: Terms): Promise<NegotiatedSession> =>
  settle(channel, terms, () => shakeHands(channel, terms));

/** Connects to a child on the strength of a verdict, without asking; `undefined` when the verdict does not suffice. */
export async function connectChildAs(
  verdict: Omit<EraDecision, 'decidedAt'>,
  open: () => Promise<Channel>,
  terms: Terms,
): Promise<Connected | undefined> {
  const { kind, discover } = verdict;
  if (kind === 'plain') {
    const channel = await open();
    return { channel, session: await settle(channel, terms, () => speakPlainly(channel)), verdict };
  }
  if (kind === 'legacy') {
    const channel = await open();
    return { channel, session: await shake(channel, terms), verdict };
  }
  if (!isModern(discover)) return undefined;
  const channel = await open();
  const session = await settle(channel, terms, () => speakModern(channel, terms, MODERN_VERSION, discover));
  return { channel, session, verdict };
}

async function askDiscover(
  channel: Channel,
  terms: Terms,
  timeoutMs: number,
  onLate?: (found: JsonObject) => void,
): Promise<JsonObject> {
  await channel.requests.transport.start();
  const params = { _meta: modernEnvelope(MODERN_VERSION, terms.clientInfo) };
  channel.requests.setEnvelope(modernEnvelope(MODERN_VERSION, terms.clientInfo));
  try {
    return await channel.requests.request('server/discover', params, {
      timeoutMs,
      signal: terms.signal,
      ...(onLate && { onLate }),
    });
  } finally {
    channel.requests.setEnvelope(undefined);
  }
}

/**
 * Finds out the era of a child by asking it on the pipe it will be used with: starting it a second
 * time only to ask would double the cost of every first start.
 */
export async function negotiateChild(open: () => Promise<Channel>, terms: Terms): Promise<Connected> {
  let channel = await open();
  let late: JsonObject | undefined;
  try {
    const discover = await askDiscover(channel, terms, PROBE_MS, (found) => {
      if (!isModern(found)) return;
      late = found;
      terms.onLate?.(found);
    });
    const connected =
      isModern(discover) && (await connectChildAs({ kind: 'modern', discover }, () => Promise.resolve(channel), terms));
    if (connected) return connected;
  } catch (thrown) {
    if (terms.signal.aborted) {
      void channel.close();
      throw thrown;
    }
    // An error or silence is how an old server answers; one that could not bear the question is started again.
    if (channel.requests.closed) channel = await open();
  }
  const remaining = channel;
  try {
    const session = await shake(remaining, terms);
    // It was modern, only slow to say so: next time it is spoken to as such.
    const verdict = late ? { kind: 'modern' as const, discover: late } : { kind: 'legacy' as const };
    return { channel: remaining, session, verdict };
  } catch (thrown) {
    const code = rpcCodeOf(thrown);
    if (terms.signal.aborted || (code !== RPC_CODE.unsupportedVersion && code !== RPC_CODE.methodNotFound && !late))
      throw thrown;
    return connectSlowModern(open, terms, late, thrown);
  }
}

/** A server that was silent at first and then refused the old handshake can only be modern. */
async function connectSlowModern(
  open: () => Promise<Channel>,
  terms: Terms,
  late: JsonObject | undefined,
  refusal: unknown,
): Promise<Connected> {
  const channel = await open();
  try {
    const discover = late ?? (await askDiscover(channel, terms, terms.timeoutMs));
    const connected = await connectChildAs({ kind: 'modern', discover }, () => Promise.resolve(channel), terms);
    if (connected) return connected;
  } catch (thrown) {
    void channel.close();
    throw thrown;
  }
  void channel.close();
  throw refusal;
}
