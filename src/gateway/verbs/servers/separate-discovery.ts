import { oneLine, printable } from '../../../kernel/text.js';
import { hideIn, ToolscoutError, toToolscoutError } from '../../../kernel/errors.js';
import { hashJson } from '../../../kernel/hash.js';
import type { Server } from '../../../model/server.js';
import type { Tool } from '../../../model/tool.js';
import { presented, type LearnedList } from '../../../catalog/catalog.js';
import type { Core } from '../../core.js';
import { requireOpenSession } from '../../deps.js';
import type { DiscoveryOptions } from '../../contract/discovery-options.js';
import { readLists } from '../../../catalog/learning/read-lists.js';

/** A server that is asked beside the pool and the catalog: with other credentials, or without being configured. */
export interface SeparateServer {
  readonly server: Server;
  /** The configured server whose trust holds for it; without one it has a record of its own. */
  readonly trustedAs?: Server;
}

function isHeader(name: string, value: string): boolean {
  try {
    return new Headers({ [name]: value }).has(name);
  } catch {
    // That it throws is the answer.
    return false;
  }
}

/** A remote server with the headers of one call, which come before its own (CONN-6). Local servers take none. */
export function withAuthHeaders(server: Server, authHeaders: DiscoveryOptions['authHeaders']): Server {
  const { transport } = server;
  if (transport.type === 'stdio' || !authHeaders || Object.keys(authHeaders).length === 0) return server;
  const given = new Map<string, string>();
  try {
    new Headers(authHeaders).forEach((value, name) => given.set(name, value));
  } catch (thrown) {
    // The value may be a secret; only the name is repeated.
    const wrong = Object.entries(authHeaders).find(([name, value]) => !isHeader(name, value))?.[0] ?? '';
    const message = `The name or value of "${oneLine(printable(wrong), 60)}" in authHeaders is not valid in HTTP.`;
    throw new ToolscoutError('INVALID_REQUEST', message, { cause: thrown });
  }
  const own = Object.entries(transport.headers).filter(([name]) => !given.has(name.toLowerCase()));
  const headers = Object.fromEntries([...own, ...given]);
  return { ...server, transport: { ...transport, headers }, digest: hashJson([server.digest, headers]) };
}

/** What a server lists in a session of its own. Nothing of it is put into the catalog; the cache keeps it by credential. */
export async function listSeparately(core: Core, server: Server, options: DiscoveryOptions): Promise<LearnedList> {
  const { cache, pool } = core.deps;
  if (options.useCache) {
    const known = await cache.read(server);
    const isEnough =
      options.useCache === 'stale' || (core.loaded.config.cache.enabled && known !== undefined && !core.isStale(known));
    if (known && isEnough) return known;
  }
  const open = requireOpenSession(core.deps);
  const { retryPolicy: retry, rateLimit } = options;
  const access = pool.access(server, { retry, rateLimit, open });
  const { signal } = new AbortController();
  try {
    const { list, facts } = await access.again(() => readLists(server, { access }, signal));
    return await cache.write(server, list, facts, { keepOthers: true });
  } catch (thrown) {
    throw hideIn(toToolscoutError(thrown, 'TOOLS_LIST_FAILED'), core.hide);
  }
}

/** The tools of such a list under the rules and as far as they are trusted. */
export async function judgeSeparately(
  core: Core,
  { server, trustedAs }: SeparateServer,
  list: LearnedList,
): Promise<Tool[]> {
  const tools = [...core.catalog.read(server, list)];
  const { approval: policy } = core.loaded.config;
  // Another credential may see another list: only a server without a record of its own gets one by it.
  if (!trustedAs) await core.approvals.admit(server, { ...presented(list), tools }, { policy, fresh: true });
  const judgement = core.approvals.judge(trustedAs ?? server, presented(list), policy);
  return tools.map((tool) => {
    if (tool.status !== 'enabled') return tool;
    return { ...tool, ...judgement.judge(tool) };
  });
}
