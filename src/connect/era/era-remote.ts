import { Client, type PriorDiscovery } from '@modelcontextprotocol/client';
import { ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { isModern, settle, type Connected, type EraDecision } from './era.js';
import { type Channel, type Terms } from './session.js';
import type { NegotiatedSession } from './session.js';
import { httpStatusOf } from '../upstream/errors.js';

/** Over HTTP every request is answered somehow; silence is a slow network. */
const REMOTE_PROBE_MS = 5000;

/** The verdict as the SDK client takes it; `undefined` when it does not suffice to connect. */
function toPrior(verdict: Omit<EraDecision, 'decidedAt'>): PriorDiscovery | undefined {
  if (verdict.kind === 'legacy') return { kind: 'legacy' };
  return isModern(verdict.discover)
    ? {
        kind: 'modern',
        discover: verdict.discover as unknown as Extract<PriorDiscovery, { kind: 'modern' }>['discover'],
      }
    : undefined;
}

function sessionOf(client: Client): NegotiatedSession {
  return {
    era: client.getProtocolEra() ?? 'legacy',
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    info: client.getServerVersion() as JsonObject | undefined,
    capabilities: (client.getServerCapabilities() ?? {}) as JsonObject,
    instructions: client.getInstructions(),
    listen: (filter, timeout) => client.listen(filter, { timeout }),
  };
}

function attach(channel: Channel, terms: Terms, client: Client, prior?: PriorDiscovery): Promise<NegotiatedSession> {
  return settle(channel, terms, async () => {
    const options = { timeout: terms.timeoutMs, signal: terms.signal, ...(prior && { prior }) };
    await client.connect(channel.requests.transport, options);
    return sessionOf(client);
  });
}

const newClient = (terms: Terms): Client => new Client(terms.clientInfo, { capabilities: { ...terms.capabilities } });

/** Connects to a remote server on the strength of a verdict; `undefined` when the verdict does not suffice. */
export async function connectRemoteAs(
  verdict: Omit<EraDecision, 'decidedAt'>,
  open: () => Promise<Channel>,
  terms: Terms,
): Promise<Connected | undefined> {
  const prior = toPrior(verdict);
  if (!prior) return undefined;
  const channel = await open();
  return { channel, session: await attach(channel, terms, newClient(terms), prior), verdict };
}

/** Statuses with which an endpoint that supports only HTTP+SSE refuses a POST. */
const SSE_ONLY = new Set([400, 404, 405]);

/** Finds out the era and the transport of a remote server. */
export async function negotiateRemote(
  open: (kind: 'http' | 'sse') => Promise<Channel>,
  type: 'http' | 'sse',
  terms: Terms,
): Promise<Connected> {
  if (type === 'sse') return connectLegacy('sse');
  try {
    const client = new Client(terms.clientInfo, {
      capabilities: { ...terms.capabilities },
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(REMOTE_PROBE_MS, terms.timeoutMs) } },
    });
    const channel = await open('http');
    const session = await attach(channel, terms, client);
    const discover = client.getDiscoverResult() as JsonObject | undefined;
    return {
      channel,
      session,
      verdict: { kind: session.era, ...(discover && { discover }), transport: 'http' },
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
    const channel = await open(transport);
    const session = await attach(channel, terms, newClient(terms), { kind: 'legacy' });
    return { channel, session, verdict: { kind: 'legacy', transport } };
  }
}

function isTimeout(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    !(thrown instanceof ToolscoutError) &&
    (thrown as { code?: unknown }).code === 'REQUEST_TIMEOUT'
  );
}
