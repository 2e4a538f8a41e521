import type { Transport } from '@modelcontextprotocol/server';
import type { Changes, ToolscoutEvent } from '../../gateway/index.js';
import { messageOf } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import { createBriefingFeed } from './sessions/briefing-feed.js';
import {
  createLegacyHostTransport,
  type LegacyHostTransport,
  type LegacyHostTransportOptions,
} from './sessions/legacy-host-transport.js';
import { createCatalogSurface } from './menu/catalog-surface.js';
import { hostNameIn, knownHost } from './menu/known-hosts.js';
import { createListItems } from './menu/list-items.js';
import { createModernHosts, type ModernHosts } from './sessions/modern-hosts.js';
import { createModeChoice } from './menu/modes.js';
import type { HostSurface } from './menu/host-surface.js';
import { watchSurface } from './menu/watched-surface.js';
import { createServerSurface } from './menu/server-surface.js';
import type { FrontDeps } from './server.js';

/** A list of which a host can be told that it has changed. */
export type ListKind = keyof Changes;

/** Somebody who is told when a list has changed. */
export interface Listener {
  readonly surface: Pick<HostSurface, 'concerns' | 'skills'>;
  changed(kind: ListKind): void;
}

/** A transport whose host can be told about skills. */
export interface BriefedHostTransport extends LegacyHostTransport {
  /** From now on the host reads what is sent outside of its requests: briefings are sent to it. */
  startBriefing(): void;
}

/** What the stdio and the HTTP front share: who is offered what, and who is told of changes. */
export interface McpFront {
  readonly modern: ModernHosts;
  /** What a host that introduces itself so is offered. */
  surfaceFor(introduction: JsonObject): HostSurface;
  /** One server passed through, as it is offered to a host that introduces itself so. */
  serverSurface(server: string): Promise<(introduction: JsonObject) => HostSurface>;
  /** A transport on which the 2025-era host behind `wire` is answered. */
  transportFor(
    wire: Transport,
    options: Pick<
      LegacyHostTransportOptions,
      'principal' | 'sole' | 'isPipe' | 'isGrouped' | 'firstQuestion' | 'sessionId' | 'surface' | 'onListen' | 'onEnded'
    >,
  ): BriefedHostTransport;
  /** Tells a listener of changes from now on; the answer ends that. */
  listen(listener: Listener): () => void;
  close(): void;
}

const EVERY_KIND: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/** The notification that a list has changed. */
export function listChanged(kind: ListKind): string {
  return `notifications/${kind}/list_changed`;
}

/** A front over the gateway. */
export function createFront(deps: FrontDeps): McpFront {
  const { gateway, log, clock } = deps;
  const traffic = gateway.internal.traffic();
  const listeners = new Set<Listener>();
  const feed = createBriefingFeed(gateway, log);
  const items = createListItems();
  const wantsFlat = (introduction: JsonObject): boolean =>
    knownHost(hostNameIn(introduction))?.wantsFlatSchemas === true;
  const modern = createModernHosts({
    clock,
    states: gateway.internal,
    follow: feed.follow,
    onLost: (thrown) => log.debug('mcp.notification-lost', { error: messageOf(thrown) }),
  });

  const announce = (event: ToolscoutEvent): void => {
    if (event.type === 'skills') {
      for (const { surface, changed } of listeners) if (surface.skills) changed('resources');
    }
    if (event.type !== 'learned' && event.type !== 'reloaded' && event.type !== 'reconsidered') return;
    const server = event.type === 'reloaded' ? undefined : event.server;
    const kinds = event.type === 'learned' ? EVERY_KIND.filter((kind) => event.changed[kind]) : EVERY_KIND;
    for (const listener of listeners) {
      for (const kind of kinds) if (listener.surface.concerns(server, kind)) listener.changed(kind);
    }
  };
  const stop = gateway.onEvent(announce);

  const listen = (listener: Listener): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  return {
    modern,
    listen,
    surfaceFor(introduction) {
      const { mode, hostModes, pinned } = gateway.internal.loaded().config;
      const chosen = createModeChoice(deps.mode ?? mode, hostModes)(introduction);
      const surface = createCatalogSurface(gateway, {
        info: { ...deps.info },
        mode: chosen,
        pinned,
        items,
        flat: wantsFlat(introduction),
        admin: deps.admin ?? false,
        showsInstructions: knownHost(hostNameIn(introduction))?.showsInstructions ?? false,
      });
      return watchSurface(surface, traffic, hostNameIn(introduction));
    },
    async serverSurface(server) {
      const surfaceFor = await createServerSurface(gateway, server, items);
      return (introduction) => watchSurface(surfaceFor(wantsFlat(introduction)), traffic, hostNameIn(introduction));
    },
    transportFor(wire, options) {
      let unlisten = (): void => {};
      let unfollow = (): void => {};
      let startBriefing = (): void => {};
      const hostTransport = createLegacyHostTransport(wire, {
        ...options,
        log,
        onOpen({ host }, surface) {
          unlisten = listen({ surface, changed: (kind) => host.notify(listChanged(kind), undefined) });
          if (!surface.skills) return;
          const send = (params: JsonObject): void => host.notify('notifications/message', params);
          startBriefing = () => {
            startBriefing = () => undefined;
            unfollow = feed.follow(newId(), send);
          };
        },
        onLogLevel: ({ host }) => void gateway.hosts.setLogLevel(host),
        onNotification({ host }, method, params) {
          if (method === 'notifications/roots/list_changed') gateway.hosts.tell(host, method, params);
          // Over a pipe there is one stream for everything, and it is read from the beginning.
          if (method === 'notifications/initialized' && options.isPipe) startBriefing();
        },
        onClose({ host }) {
          unfollow();
          unlisten();
          // Connections that others share go on.
          if (host.session) gateway.hosts.release(host);
        },
      });
      return Object.assign(hostTransport, { startBriefing: () => startBriefing() });
    },
    close() {
      stop();
      feed.close();
      modern.close();
    },
  };
}
