import type { Transport } from '@modelcontextprotocol/server';
import type { Changes, GatewayEvent } from '../../gateway/index.js';
import { messageOf } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import { createBriefingFeed } from './sessions/briefing-feed.js';
import { withHostLane, type LegacyHostTransport, type HostLaneOptions } from './sessions/legacy-host-transport.js';
import { createCatalogOffer } from './menu/catalog-surface.js';
import { hostNameIn, knownHost } from './menu/known-hosts.js';
import { createListItems } from './menu/list-items.js';
import { createModernHosts, type ModernHosts } from './sessions/modern.js';
import { createModeChoice } from './menu/modes.js';
import type { HostSurface } from './menu/host-surface.js';
import { createServerOffer } from './menu/server-surface.js';
import type { FrontDeps } from './server.js';

/** A list of which a host can be told that it has changed. */
export type ListKind = keyof Changes;

/** Somebody who is told when a list has changed. */
export interface Listener {
  readonly offer: Pick<HostSurface, 'concerns' | 'skills'>;
  changed(kind: ListKind): void;
}

/** A lane whose host can be told about skills. */
export interface BriefedLane extends LegacyHostTransport {
  /** From now on the host reads what is sent outside of its requests: briefings are sent to it. */
  startBriefing(): void;
}

/** What the stdio and the HTTP front share: who is offered what, and who is told of changes. */
export interface McpFront {
  readonly modern: ModernHosts;
  /** What a host that introduces itself so is offered. */
  offerFor(introduction: JsonObject): HostSurface;
  /** One server passed through, as it is offered to a host that introduces itself so. */
  serverOffer(server: string): Promise<(introduction: JsonObject) => HostSurface>;
  /** A transport on which the 2025-era host behind `wire` is answered. */
  laneFor(
    wire: Transport,
    options: Pick<HostLaneOptions, 'principal' | 'sole' | 'sessionId' | 'offer' | 'onListen' | 'onEnded'>,
  ): BriefedLane;
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
  const listeners = new Set<Listener>();
  const feed = createBriefingFeed(gateway, log);
  const items = createListItems();
  const wantsFlat = (introduction: JsonObject): boolean =>
    knownHost(hostNameIn(introduction))?.wantsFlatSchemas === true;
  const modern = createModernHosts({
    clock,
    follow: feed.follow,
    onLost: (thrown) => log.debug('mcp.notification-lost', { error: messageOf(thrown) }),
  });

  const announce = (event: GatewayEvent): void => {
    if (event.type === 'skills') {
      for (const { offer, changed } of listeners) if (offer.skills) changed('resources');
    }
    if (event.type !== 'learned' && event.type !== 'reloaded' && event.type !== 'reconsidered') return;
    const server = event.type === 'reloaded' ? undefined : event.server;
    const kinds = event.type === 'learned' ? EVERY_KIND.filter((kind) => event.changed[kind]) : EVERY_KIND;
    for (const listener of listeners) {
      for (const kind of kinds) if (listener.offer.concerns(server, kind)) listener.changed(kind);
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
    offerFor(introduction) {
      const { mode, hostModes, pinned } = gateway.config().config;
      const chosen = createModeChoice(deps.mode ?? mode, hostModes)(introduction);
      return createCatalogOffer(gateway, {
        info: { ...deps.info },
        mode: chosen,
        pinned,
        items,
        flat: wantsFlat(introduction),
        admin: deps.admin ?? false,
        showsInstructions: knownHost(hostNameIn(introduction))?.showsInstructions ?? false,
      });
    },
    async serverOffer(server) {
      const offerTo = await createServerOffer(gateway, server, items);
      return (introduction) => offerTo(wantsFlat(introduction));
    },
    laneFor(wire, options) {
      let unlisten = (): void => {};
      let unfollow = (): void => {};
      let startBriefing = (): void => {};
      const lane = withHostLane(wire, {
        ...options,
        log,
        onOpen({ host }, offer) {
          unlisten = listen({ offer, changed: (kind) => host.notify(listChanged(kind), undefined) });
          if (!offer.skills) return;
          const send = (params: JsonObject): void => host.notify('notifications/message', params);
          startBriefing = () => {
            startBriefing = () => undefined;
            unfollow = feed.follow(newId(), send);
          };
        },
        onLogLevel: ({ host }) => void gateway.setLogLevel(host),
        onNotification({ host }, method, params) {
          if (method === 'notifications/roots/list_changed') gateway.tellServers(host, method, params);
          // Over a pipe there is one stream for everything, and it is read from the beginning.
          if (method === 'notifications/initialized' && options.sole) startBriefing();
        },
        onClose({ host }) {
          unfollow();
          unlisten();
          // Connections that others share go on.
          if (host.session) gateway.releaseHost(host);
        },
      });
      return Object.assign(lane, { startBriefing: () => startBriefing() });
    },
    close() {
      stop();
      feed.close();
      modern.close();
    },
  };
}
