import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Clock } from '../kernel/clock.js';
import { bareHost } from './address.js';
import { dial, leadsOutside } from './dial.js';

/** One answer of a name service. */
export interface Resolved {
  readonly address: string;
  readonly family: number;
}

/** Why nothing came back. */
export type FetchProblem =
  | 'invalid_scheme'
  | 'host_not_allowed'
  | 'dns'
  | 'refused'
  | 'timeout'
  | 'tls'
  | 'encoding'
  | 'too_large'
  | 'connection'
  | 'cancelled';

/** What came back, whatever its status; or why nothing did. Redirects are answers: they are never followed. */
export type Fetched =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly ms: number;
    }
  | { readonly ok: false; readonly problem: FetchProblem; readonly host: string; readonly ms: number };

/** How one address is asked. */
export interface FetchOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Limit for everything together: name, connection, headers and the last byte of the body. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** The user wrote this address down: it may be internal. */
  readonly own?: boolean;
  readonly signal?: AbortSignal;
}

/** Asks an address for a text, within bounds. Never throws. */
export type SafeFetch = (url: string, options?: FetchOptions) => Promise<Fetched>;

/** What a guarded fetch is made of. */
export interface SafeFetchDeps {
  readonly clock: Clock;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Hosts (`name` or `name:port`) that may be asked, also when they are internal; `undefined`: every public one. */
  readonly allowedHosts?: readonly string[];
  /** The name service; the system's own by default. */
  readonly resolve?: (host: string) => Promise<readonly Resolved[]>;
}

class Refusal extends Error {
  constructor(readonly problem: FetchProblem) {
    super(problem);
  }
}

const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

function problemOf(thrown: unknown): FetchProblem {
  if (thrown instanceof Refusal) return thrown.problem;
  const code = String((thrown as { code?: unknown } | undefined)?.code ?? '');
  if (code === 'ECONNREFUSED') return 'refused';
  return TLS.test(code) ? 'tls' : 'connection';
}

function systemResolve(host: string): Promise<readonly Resolved[]> {
  return lookup(host, { all: true, verbatim: true });
}

function headersOf(response: IncomingMessage): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value);
  return headers;
}

function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('error', reject);
    const encoding = response.headers['content-encoding'];
    // Nothing compressed was asked for, and a small body must not become a large one.
    if (encoding !== undefined && encoding !== 'identity') return reject(new Refusal('encoding'));
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) reject(new Refusal('too_large'));
      else chunks.push(chunk);
    });
    response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    response.on('close', () => reject(new Refusal('connection')));
  });
}

/**
 * A fetch for addresses that others wrote. Only http and https, no redirects, no proxy, no cookies, bounded in bytes and in
 * time. The address that is dialled is the very one that was checked: the name is asked for once, every answer must be
 * public, and the connection is made to those answers and to nothing that a second question might bring.
 */
export function createSafeFetch(deps: SafeFetchDeps): SafeFetch {
  const { clock, resolve = systemResolve } = deps;
  const allowed = deps.allowedHosts && new Set(deps.allowedHosts.map((host) => host.toLowerCase()));

  const checkedAddresses = async (url: URL, own: boolean): Promise<readonly Resolved[]> => {
    const host = bareHost(url.hostname);
    const isNamed = allowed !== undefined && (allowed.has(host) || allowed.has(`${host}:${portOf(url)}`));
    if (allowed !== undefined && !isNamed) throw new Refusal('host_not_allowed');
    const family = isIP(host);
    const found =
      family > 0
        ? [{ address: host, family }]
        : await resolve(host).catch(() => {
            throw new Refusal('dns');
          });
    if (found.length === 0) throw new Refusal('dns');
    if (!own && !isNamed && !leadsOutside(found.map((each) => each.address))) throw new Refusal('host_not_allowed');
    return found;
  };

  return async (address, options = {}) => {
    const started = clock.monotonic();
    const url = URL.canParse(address) ? new URL(address) : undefined;
    const fail = (problem: FetchProblem): Fetched => ({
      ok: false,
      problem,
      host: url ? bareHost(url.hostname) : '',
      ms: clock.monotonic() - started,
    });
    if (!url || !/^https?:$/.test(url.protocol)) return fail('invalid_scheme');

    const stop = new AbortController();
    const cancel = (): void => stop.abort(new Refusal('cancelled'));
    if (options.signal?.aborted) return fail('cancelled');
    options.signal?.addEventListener('abort', cancel, { once: true });
    const timer = clock.after(options.timeoutMs ?? deps.timeoutMs, () => stop.abort(new Refusal('timeout')), {
      awaited: true,
    });
    const stopped = new Promise<never>((_, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason as Error), { once: true });
    });
    let isWhole = false;
    try {
      const work = async (): Promise<Fetched> => {
        const addresses = await checkedAddresses(url, options.own ?? false);
        const response = await dial(url, {
          signal: stop.signal,
          // A new connection: a pooled one may lead to an address that was checked for another request.
          agent: false,
          lookup: (_host, asked, answer) => {
            const [first] = addresses;
            if (asked.all) answer(null, [...addresses]);
            else answer(null, first!.address, first!.family);
          },
          headers: {
            Accept: 'application/json',
            ...options.headers,
            'User-Agent': deps.userAgent,
            'Accept-Encoding': 'identity',
          },
        });
        const body = await readBody(response, options.maxBytes ?? deps.maxBytes);
        const status = response.statusCode ?? 0;
        isWhole = true;
        return { ok: true, status, headers: headersOf(response), body, ms: clock.monotonic() - started };
      };
      return await Promise.race([work(), stopped]);
    } catch (thrown) {
      return fail(problemOf(thrown));
    } finally {
      timer.cancel();
      options.signal?.removeEventListener('abort', cancel);
      // Ends the socket of whatever is still on its way.
      if (!isWhole) stop.abort(new Refusal('cancelled'));
    }
  };
}

function portOf(url: URL): string {
  return url.port || (url.protocol === 'https:' ? '443' : '80');
}
