import type { RegistrySources } from '../deps.js';
import type { ServerHealth } from '../../model/server.js';
import type { Tool } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';
import type { LocalState, Registry } from '../../registry/index.js';
import type { Core } from '../core.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** What a tool's server offers because of it: `domain:verb`. */
function capabilitiesOf(tools: readonly Tool[]): string[] {
  const offered = tools.filter((tool) => tool.status === 'enabled');
  return [
    ...new Set(
      offered.flatMap((tool) => {
        const domain = tool.domains.at(-1) ?? tool.server;
        return tool.categories.map((category) => `${domain}:${category.replace(/^crud\./, '')}`);
      }),
    ),
  ];
}

/** What happened when a server was last needed; one that was never needed is neither alive nor failed. */
function judge({ state }: ServerHealth, hasAnswered: boolean): Pick<LocalState, 'alive' | 'reason'> {
  if (state === 'error') return { alive: false, reason: 'health_error:connection' };
  const alive = state === 'connected' || hasAnswered;
  return { alive, reason: alive ? null : 'pending' };
}

/** A connection that was closed because it was no longer needed. */
const wasClosed = ({ from, to }: { readonly from: string; readonly to: string }): boolean =>
  from === 'connected' && to === 'disconnected';

/** The registry of a viewer that sees only some servers. */
function registryFor({ sees }: Viewer, registry: Registry): Registry {
  return {
    ...registry,
    snapshot: (filters) => registry.snapshot(filters, sees),
    refresh: (ids) => registry.refresh(ids, sees),
    problems: () => [],
  };
}

/** The verb that hands out the registry of servers; it is made when it is first asked for, and ends with the gateway. */
export function createServerRegistry(core: Core): {
  readonly verbs: VerbTable<'registry.get'>;
  close(): Promise<void>;
} {
  let opening: Promise<Registry | undefined> | undefined;
  /** When a connection was last seen to open or to end well, in wall-clock time. */
  const met = new Map<string, number>();

  const sources: RegistrySources = {
    // A server that may not be used gets no request, not even a health check.
    servers: () => core.loaded.servers.filter(({ id }) => !core.catalog.hold(id)),
    localState({ id, own, transport }) {
      if (!own) return undefined;
      const health = core.deps.pool.health(id);
      const list = core.catalog.list(id);
      // A local process runs while it is needed. That it rests says nothing against it: it is as well as it was when it
      // answered. Of a remote server that is for its own health check to say.
      const isOne = transport === 'stdio' && list !== undefined && list.rung === undefined;
      const answeredAt = isOne ? (met.get(id) ?? (core.isStale(list) ? undefined : list.learnedAt)) : undefined;
      return {
        ...judge(health, answeredAt !== undefined),
        version: list?.info?.version,
        latencyMs: health.latencyMs,
        checkedAt: health.state === 'disconnected' ? answeredAt : health.since,
        capabilities: capabilitiesOf(core.catalog.index.tools(id)),
      };
    },
  };

  const open = async (): Promise<Registry | undefined> => {
    await core.filled();
    const registry = await core.deps.openServerRegistry?.(sources);
    core.events.on((event) => {
      // The inventory file is read again before long in any case; a failure to do so now is reported there.
      if (event.type === 'reloaded' || event.type === 'reconsidered')
        registry?.sync().catch(() => core.deps.log.debug('tools.registry.unsynced', { phase: 'load' }));
      if (event.type === 'state' && (event.to === 'connected' || wasClosed(event)))
        met.set(event.server, core.deps.clock.now());
      if (event.type === 'state' || event.type === 'learned') registry?.touch();
    });
    registry?.onProbe(({ id, result }) => {
      const said = result.description?.capabilities;
      if (said === undefined || said.join('\n') === core.probed.get(id)?.join('\n')) return;
      core.probed.set(id, said);
      core.events.emit({ type: 'probed', server: id, capabilities: said });
    });
    return registry;
  };

  return {
    verbs: defineVerbs({
      async 'registry.get'(viewer) {
        const registry = await (opening ??= open());
        return registry && viewer.isLimited ? registryFor(viewer, registry) : registry;
      },
    }),
    async close() {
      await (await opening)?.stop();
    },
  };
}
