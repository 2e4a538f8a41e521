import { ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import type { Remedy } from '../kernel/remedy.js';
import type { Upstream } from '../model/upstream.js';
import {
  refuseDuplicate,
  checkKeyed,
  checkTool,
  shownName,
  type BadItem,
  type ItemCheck,
  type ListLimits,
} from './salvage.js';
import { RPC_CODE, rpcErrorPrefix } from '../protocol/json-rpc.js';

/** Everything one server listed. */
export interface Listed {
  /** The entries that can be used, in the server's order, vendor fields included. */
  readonly items: JsonObject[];
  /** The entries that were dropped. */
  readonly bad: BadItem[];
  /** How long the server allows the list to be kept; only modern servers say so. */
  readonly ttlMs?: number;
  readonly cacheScope?: 'public' | 'private';
  /** Why there may be more than this. */
  readonly truncated?: string;
}

/** How a list is fetched. */
export interface ListOptions {
  readonly signal?: AbortSignal;
  /** For each page. */
  readonly timeoutMs?: number;
  readonly limits?: Partial<ListLimits>;
  /** Waits until the next request may be sent: each page is one request (CONN-7). */
  readonly pace?: () => Promise<void>;
  /** Called after every page. */
  readonly onPage?: (page: { readonly page: number; readonly items: number }) => void;
}

interface ListKind {
  readonly method: string;
  readonly field: string;
  readonly key: string;
  readonly check: ItemCheck;
  /** A server that declares this capability must know the method; any other may lack it. */
  readonly capability?: string;
}

const TOOLS: ListKind = { method: 'tools/list', field: 'tools', key: 'name', check: checkTool, capability: 'tools' };

const MAX_CURSOR = 64 * 1024;

function failed(upstream: Upstream, kind: ListKind, what: string): ToolscoutError {
  return new ToolscoutError(
    'TOOLS_LIST_FAILED',
    `${kind.method} failed: the server "${upstream.server}" answered with ${what}.`,
  );
}

/** What to do when a list takes too long: a smaller part cannot be asked for. */
const DIAGNOSE: Remedy = { kind: 'diagnose' };

/** One page, or `undefined` when the server does not know the method and never claimed to. */
async function fetchPage(
  upstream: Upstream,
  kind: ListKind,
  cursor: string | undefined,
  options: ListOptions,
): Promise<JsonObject | undefined> {
  const { signal, timeoutMs } = options;
  if (signal?.aborted)
    throw new ToolscoutError('CANCELLED', `Listing the tools of "${upstream.server}" was cancelled.`);
  await options.pace?.();
  try {
    return await upstream.request(kind.method, cursor === undefined ? {} : { cursor }, {
      signal,
      timeoutMs,
      ifLate: DIAGNOSE,
    });
  } catch (thrown) {
    if (!(thrown instanceof ToolscoutError) || !thrown.upstream) throw thrown;
    const claimed = kind.capability !== undefined && isObject(upstream.capabilities[kind.capability]);
    if (thrown.upstream.code === RPC_CODE.methodNotFound && cursor === undefined && !claimed) return undefined;
    // Not the text of the server itself: in the message it is masked and cut already.
    const prefix = rpcErrorPrefix(upstream.server);
    const said = thrown.message.startsWith(prefix) ? thrown.message.slice(prefix.length) : thrown.message;
    throw new ToolscoutError('TOOLS_LIST_FAILED', `${kind.method} failed: ${said}`, {
      upstream: thrown.upstream,
      delivered: thrown.delivered,
      retryAfterMs: thrown.retryAfterMs,
      cause: thrown,
    });
  }
}

/** What a whole listing has gathered so far. */
interface Gathered {
  readonly items: JsonObject[];
  readonly bad: BadItem[];
  readonly keys: Set<string>;
  seen: number;
  bytes: number;
}

/** Takes the entries of one page; answers why it stopped when a bound was reached. */
function gather(into: Gathered, entries: readonly JsonValue[], kind: ListKind, limits: ListLimits): string | undefined {
  for (const raw of entries) {
    if (into.seen >= limits.toolsPerServer) return `the list has more than ${limits.toolsPerServer} entries`;
    const index = into.seen++;
    const checked = refuseDuplicate(kind.check(raw, limits), into.keys, kind.key);
    if ('reason' in checked) {
      const name = shownName(raw, kind.key);
      into.bad.push(name === undefined ? { index, reason: checked.reason } : { index, name, reason: checked.reason });
      continue;
    }
    into.bytes += checked.bytes;
    if (into.bytes > limits.listBytes) return `the list is larger than ${limits.listBytes} bytes`;
    into.keys.add(checked.key);
    into.items.push(checked.item);
  }
  return undefined;
}

/** Freshness as a modern server gave it; what is missing or makes no sense counts as 0 (S23). */
function readTtl(page: JsonObject): number {
  return typeof page.ttlMs === 'number' && page.ttlMs > 0 ? page.ttlMs : 0;
}

function findCursorFault(
  cursor: JsonValue,
  seen: ReadonlySet<string>,
  page: number,
  limits: ListLimits,
): string | undefined {
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR) return `page ${page} ended with an invalid cursor`;
  if (seen.has(cursor)) return `page ${page} repeated an earlier cursor`;
  return page >= limits.pages ? `the list has more than ${limits.pages} pages` : undefined;
}

async function listAll(upstream: Upstream, kind: ListKind, options: ListOptions): Promise<Listed> {
  const limits: ListLimits = { ...LIMITS, ...options.limits };
  const gathered: Gathered = { items: [], bad: [], keys: new Set(), seen: 0, bytes: 0 };
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let truncated: string | undefined;
  let ttlMs: number | undefined;
  let cacheScope: Listed['cacheScope'];

  for (let page = 1; truncated === undefined; page++) {
    const result = await fetchPage(upstream, kind, cursor, options);
    if (result === undefined) break;
    const entries: unknown = isObject(result) ? result[kind.field] : undefined;
    if (!Array.isArray(entries)) throw failed(upstream, kind, `no list of ${kind.field} on page ${page}`);
    truncated = gather(gathered, entries as JsonValue[], kind, limits);
    if (upstream.era === 'modern') {
      ttlMs = Math.min(ttlMs ?? Infinity, readTtl(result));
      cacheScope = result.cacheScope === 'public' && cacheScope !== 'private' ? 'public' : 'private';
    }
    options.onPage?.({ page, items: gathered.items.length });
    const next = result.nextCursor;
    if (truncated !== undefined || next === undefined || next === null || next === '') break;
    truncated = findCursorFault(next, cursors, page, limits);
    cursor = next as string;
    cursors.add(cursor);
  }
  return {
    items: gathered.items,
    bad: gathered.bad,
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(cacheScope === undefined ? {} : { cacheScope }),
    ...(truncated === undefined ? {} : { truncated }),
  };
}

/**
 * Every tool of a server, over all pages and within bounds. One malformed tool is dropped and named,
 * the rest are kept (DISC-1).
 *
 * @throws ToolscoutError `TOOLS_LIST_FAILED` when the server refuses or answers something else.
 */
export function listTools(upstream: Upstream, options: ListOptions = {}): Promise<Listed> {
  return listAll(upstream, TOOLS, options);
}

const RESOURCES: ListKind = {
  method: 'resources/list',
  field: 'resources',
  key: 'uri',
  check: checkKeyed('uri'),
};

/** Every resource of a server; a server without resources has an empty list. */
export function listResources(upstream: Upstream, options: ListOptions = {}): Promise<Listed> {
  return listAll(upstream, RESOURCES, options);
}

const RESOURCE_TEMPLATES: ListKind = {
  method: 'resources/templates/list',
  field: 'resourceTemplates',
  key: 'uriTemplate',
  check: checkKeyed('uriTemplate'),
};

/** Every resource template of a server; a server without templates has an empty list. */
export function listResourceTemplates(upstream: Upstream, options: ListOptions = {}): Promise<Listed> {
  return listAll(upstream, RESOURCE_TEMPLATES, options);
}

const PROMPTS: ListKind = {
  method: 'prompts/list',
  field: 'prompts',
  key: 'name',
  check: checkKeyed('name', 256),
};

/** Every prompt of a server; a server without prompts has an empty list. */
export function listPrompts(upstream: Upstream, options: ListOptions = {}): Promise<Listed> {
  return listAll(upstream, PROMPTS, options);
}
