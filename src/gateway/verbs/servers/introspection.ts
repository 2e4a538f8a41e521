import type { IntrospectionDeps } from '../../deps.js';
import { listTools } from '../../../discover/index.js';
import { hideIn, ToolscoutError, toToolscoutError } from '../../../kernel/errors.js';
import type { Server } from '../../../model/server.js';
import type { Tool } from '../../../model/tool.js';
import type { LearnedList } from '../../../catalog/catalog.js';
import type { Core } from '../../core.js';
import { requirePublic } from '../../../net/public-address.js';

/** What a remote server that is not approved offers. None of it is trusted and none of it can be called. */
export interface Introspected {
  readonly list: LearnedList;
  readonly tools: readonly Tool[];
  readonly protocolVersion: string;
}

/**
 * Asks a remote server for its tools before it is approved: only an https URL on the public network, without any
 * credential, in a session of its own; no tool is called (A36).
 *
 * @throws ToolscoutError `FORBIDDEN` for a local program and for an address that is not public.
 */
export async function introspect(
  core: Core,
  server: Server,
  { open, lookup }: IntrospectionDeps,
  { allowPrivate = false }: { readonly allowPrivate?: boolean } = {},
): Promise<Introspected> {
  const { clock, pool } = core.deps;
  const { transport } = server;
  if (transport.type === 'stdio') {
    throw new ToolscoutError(
      'FORBIDDEN',
      `"${server.id}" is a local program; it is not started before it is approved.`,
      {
        remedy: { kind: 'review', ref: server.id },
        delivered: false,
      },
    );
  }
  if (!allowPrivate) await requirePublic(transport.url, lookup);
  const stop = new AbortController();
  const timer = clock.after(server.connectTimeoutMs + server.timeoutMs, () => stop.abort(), { awaited: true });
  // Checked once more when it is dialled: a name may lead elsewhere by then.
  const target: Server = allowPrivate ? server : { ...server, origin: server.origin ?? 'introspected' };
  try {
    const { signal } = stop;
    const { use, pace } = pool.access(target, { signal, open });
    const found = await use(async (upstream) => ({
      listed: await listTools(upstream, { signal, timeoutMs: server.timeoutMs, pace }),
      upstream,
    }));
    const { info, instructions, era, capabilities, protocolVersion } = found.upstream;
    const list: LearnedList = {
      items: found.listed.items,
      dropped: found.listed.bad.length,
      learnedAt: clock.now(),
      info,
      instructions,
      era,
      capabilities,
    };
    return { list, tools: [...core.catalog.read(server, list)], protocolVersion };
  } catch (thrown) {
    throw hideIn(toToolscoutError(thrown), core.hide);
  } finally {
    timer.cancel();
  }
}
