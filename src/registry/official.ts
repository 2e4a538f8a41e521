import { seconds, oneLine, printable } from '../kernel/text.js';
import type { Clock } from '../kernel/clock.js';
import { messageOf, ToolscoutError, toToolscoutError } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import { canonicalJson, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import type { Log } from '../kernel/log.js';
import type { RegistryAnswer, RegistryServer } from '../model/registry-server.js';
import type { Store } from '../model/store.js';
import type { Fetched, SafeFetch } from '../net/safe-fetch.js';
import { readEntry } from './server-json.js';

/** What narrows a search of the registry. */
export interface RegistrySearchOptions {
  /** Only what changed since then (RFC 3339). */
  readonly updatedSince?: string;
  /** Ask again even if a remembered answer is good enough. */
  readonly fresh?: boolean;
}

/** A client of a registry that speaks the official API. */
export interface RegistryClient {
  /** Servers whose name or description holds the words, newest versions only. */
  search(query: string, options?: RegistrySearchOptions): Promise<RegistryAnswer>;
  /** The newest version of one server. */
  find(name: string): Promise<RegistryServer>;
}

/** What the client is made of. */
export interface RegistryClientDeps {
  readonly fetch: SafeFetch;
  /** Where answers are remembered. */
  readonly cache: Pick<Store, 'get' | 'put'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly url: string;
  readonly ttlMs: number;
  readonly timeoutMs: number;
  readonly maxPages: number;
  /** The user wrote the URL down, so that it may lead into an own network. */
  readonly own: boolean;
}

const SPACE = 'registry';
const PAGE_SIZE = 100;
/** Bytes of one page of a hundred entries; the real ones stay under a fifth of it. */
const REGISTRY_BYTES = LIMITS.bodyBytes;
const MAX_CURSOR = 1024;

interface Page {
  readonly entries: readonly JsonValue[];
  readonly cursor?: string;
  readonly bytes: number;
}

function reasonOf(answer: Exclude<Fetched, { ok: true }>, timeoutMs: number): string {
  switch (answer.problem) {
    case 'timeout':
      return `it did not answer within ${seconds(timeoutMs)}`;
    case 'too_large':
      return `its answer is larger than ${REGISTRY_BYTES} bytes`;
    case 'dns':
      return `the name ${answer.host} cannot be resolved`;
    case 'refused':
      return 'connection refused';
    case 'host_not_allowed':
      return `${answer.host} is an internal address; write it as registry.url if it is yours`;
    case 'tls':
      return 'its certificate is not valid';
    case 'encoding':
      return 'its answer has an unsupported content encoding';
    default:
      return 'the connection failed';
  }
}

function retryAfter(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
}

/** A client; every answer is bounded in pages, bytes and time, and one bad entry costs only itself. */
export function createRegistryClient(deps: RegistryClientDeps): RegistryClient {
  const { clock, log } = deps;
  // A password or a query in the URL has no place in messages, and none in the API.
  const { origin, pathname } = new URL(deps.url);
  const base = `${origin}${pathname.replace(/\/+$/, '')}`;

  const unavailable = (reason: string, retryAfterMs?: number): ToolscoutError =>
    new ToolscoutError('REGISTRY_UNAVAILABLE', `The registry ${base} cannot be searched: ${reason}.`, {
      retryAfterMs,
      suggestion: 'Try again in a moment, or set registry.url to another registry.',
    });

  /** The JSON object at a path of the registry; `undefined` when it does not exist. */
  const ask = async (path: string): Promise<{ value: JsonObject; bytes: number } | undefined> => {
    const answer = await deps.fetch(`${base}${path}`, {
      timeoutMs: deps.timeoutMs,
      maxBytes: REGISTRY_BYTES,
      own: deps.own,
    });
    if (!answer.ok) throw unavailable(reasonOf(answer, deps.timeoutMs));
    if (answer.status === 404) return undefined;
    if (answer.status === 429) {
      const retryAfterMs = retryAfter(answer.headers['retry-after']);
      throw new ToolscoutError(
        'RATE_LIMITED',
        `The registry ${base} refused the request: too many requests (HTTP 429).`,
        {
          retryAfterMs,
        },
      );
    }
    if (answer.status !== 200) {
      throw unavailable(`it answered with status ${answer.status}`, retryAfter(answer.headers['retry-after']));
    }
    try {
      const value = JSON.parse(answer.body) as unknown;
      if (isObject(value)) return { value, bytes: answer.body.length };
    } catch (thrown) {
      log.debug('registry.garbage', { reason: messageOf(thrown) });
    }
    throw unavailable('its answer is not a JSON object');
  };

  const readPage = async (parameters: URLSearchParams): Promise<Page> => {
    const answer = await ask(`/v0.1/servers?${parameters.toString()}`);
    if (!answer) throw unavailable('it does not know the route /v0.1/servers');
    const { value, bytes } = answer;
    if (!Array.isArray(value['servers'])) throw unavailable('its answer has no list of servers');
    const metadata = isObject(value['metadata']) ? value['metadata'] : {};
    const cursor = metadata['nextCursor'] ?? metadata['next_cursor'];
    return {
      bytes,
      entries: value['servers'].slice(0, PAGE_SIZE * 10),
      cursor: typeof cursor === 'string' && cursor !== '' && cursor.length <= MAX_CURSOR ? cursor : undefined,
    };
  };

  const readAll = async (query: string, updatedSince: string | undefined): Promise<RegistryAnswer> => {
    const servers = new Map<string, RegistryServer>();
    const seen = new Set<string>();
    let dropped = 0;
    let cursor: string | undefined;
    let truncated = false;
    let bytes = 0;
    for (let page = 0; ; page++) {
      // A cursor that comes again would never end.
      if (page === deps.maxPages || bytes > LIMITS.listBytes || (cursor !== undefined && seen.has(cursor))) {
        truncated = true;
        break;
      }
      if (cursor !== undefined) seen.add(cursor);
      const parameters = new URLSearchParams({ limit: String(PAGE_SIZE), version: 'latest' });
      if (query !== '') parameters.set('search', query);
      if (updatedSince !== undefined) parameters.set('updated_since', updatedSince);
      if (cursor !== undefined) parameters.set('cursor', cursor);
      const { entries, cursor: next, bytes: more } = await readPage(parameters);
      bytes += more;
      for (const entry of entries) {
        const read = readEntry(entry);
        if (read.kind === 'server' && !servers.has(read.server.name)) servers.set(read.server.name, read.server);
        if (read.kind === 'bad') {
          dropped += 1;
          log.warn('registry.dropped', { reason: read.reason });
        }
      }
      if (next === undefined) break;
      cursor = next;
    }
    return { servers: [...servers.values()], truncated, dropped, learnedAt: clock.now() };
  };

  /** What was remembered under a key; anything that is not a whole answer to this very question is a miss (A23). */
  const recall = async (key: string, question: string): Promise<RegistryAnswer | undefined> => {
    try {
      const value = (await deps.cache.get(SPACE, key))?.value;
      if (!isObject(value) || value['question'] !== question || !isObject(value['answer'])) return undefined;
      const answer = value['answer'];
      const { servers, learnedAt, truncated, dropped } = answer;
      if (!Array.isArray(servers) || typeof learnedAt !== 'number' || learnedAt > clock.now()) return undefined;
      const read = servers.map((server) => readEntry({ server: isObject(server) ? server['document'] : undefined }));
      if (read.some((entry) => entry.kind !== 'server')) return undefined;
      return {
        servers: servers as unknown as RegistryServer[],
        truncated: truncated === true,
        dropped: typeof dropped === 'number' ? dropped : 0,
        learnedAt,
      };
    } catch (thrown) {
      log.warn('registry.unreadable', { error: messageOf(thrown) });
      return undefined;
    }
  };

  const remember = async (key: string, question: string, answer: RegistryAnswer): Promise<void> => {
    try {
      const value = JSON.parse(JSON.stringify({ question, answer })) as JsonObject;
      await deps.cache.put(SPACE, key, value, { expiresAt: answer.learnedAt + deps.ttlMs });
    } catch (thrown) {
      // The next search asks again; that is slower, and nothing else.
      log.warn('registry.unsaved', { error: messageOf(thrown) });
    }
  };

  return {
    async search(query, options = {}) {
      const wanted = query.trim();
      if (Buffer.byteLength(wanted) > LIMITS.queryBytes) {
        throw new ToolscoutError('INVALID_REQUEST', `The query is longer than ${LIMITS.queryBytes} bytes.`);
      }
      const since = options.updatedSince;
      if (since !== undefined && (!/^\d{4}-\d\d-\d\dT/.test(since) || Number.isNaN(Date.parse(since)))) {
        throw new ToolscoutError(
          'INVALID_REQUEST',
          `updatedSince is not a time: "${oneLine(printable(since), 60)}"; expected one such as 2026-01-31T00:00:00Z.`,
        );
      }
      // The whole question is hashed, so that no two questions can share an entry (A22).
      const question = canonicalJson([base, wanted, since ?? null, deps.maxPages]);
      const key = `registry_${sha256(question)}`;
      const known = await recall(key, question);
      if (known && !options.fresh && clock.now() - known.learnedAt < deps.ttlMs) return known;
      try {
        const answer = await readAll(wanted, since);
        await remember(key, question, answer);
        return answer;
      } catch (thrown) {
        const error = toToolscoutError(thrown, 'REGISTRY_UNAVAILABLE');
        if (!known || error.code === 'INTERNAL_ERROR') throw error;
        return { ...known, stale: error.message };
      }
    },

    async find(name) {
      const answer = await ask(`/v0.1/servers/${encodeURIComponent(name)}/versions/latest`);
      const read = answer && readEntry(answer.value);
      if (read?.kind === 'server' && read.server.name === name) return read.server;
      if (read?.kind === 'bad') {
        throw unavailable(`its entry for "${name.slice(0, 200)}" is not valid: ${read.reason}`);
      }
      throw new ToolscoutError('SERVER_NOT_FOUND', `The registry ${base} has no server "${name.slice(0, 200)}".`, {
        remedy: { kind: 'search-registry' },
      });
    },
  };
}
