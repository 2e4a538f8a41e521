import type { Changes, Gateway, ToolscoutEvent } from '../../gateway/index.js';
import { messageOf } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { Host } from '../../model/host.js';
import { createBriefingFeed, type BriefingFeed } from './sessions/briefing-feed.js';
import {
  LegacyHostTransport,
  type HostWire,
  type LegacyHostTransportOptions,
} from './sessions/legacy-host-transport.js';
import type { LegacySession } from './sessions/legacy-session.js';
import { createCatalogMenu } from './menu/catalog-surface.js';
import { hostNameIn, knownHost } from './menu/known-hosts.js';
import { createListItems } from './menu/list-items.js';
import { createModernHosts, type ModernHosts } from './sessions/modern-hosts.js';
import { createModeChoice } from './menu/modes.js';
import type { HostSurface } from './menu/host-surface.js';
import { createServerSurface } from './menu/server-surface.js';
import type { FrontDeps } from './server.js';

/** The lists whose changes are reported to hosts. */
export type ListKind = keyof Changes;

/** A listener for changes of a list. */
export interface Listener {
  readonly surface: Pick<HostSurface, 'concerns' | 'skills'>;
  changed(kind: ListKind): void;
}

/** What the stdio and the HTTP front share: the surfaces of hosts, and notifications of changes. */
export interface McpFront {
  readonly modern: ModernHosts;
  /** What a host that introduces itself so is offered. */
  surfaceFor(introduction: JsonObject): HostSurface;
  /** The same for a call alone, which does not ask what changed since: hosts of one name share it. */
  callSurfaceFor(introduction: JsonObject): HostSurface;
  /** One server passed through, as it is offered to a host that introduces itself so. */
  serverSurface(server: string): Promise<(introduction: JsonObject) => HostSurface>;
  /** A transport on which the 2025-era host behind `wire` is answered. */
  transportFor(wire: HostWire, options: LegacyHostTransportOptions): BriefedHostTransport;
  /** Notifies a listener of changes from now on; call the returned function to stop. */
  listen(listener: Listener): () => void;
  close(): void;
}

const EVERY_KIND: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/** The notification that a list has changed. */
export function listChanged(kind: ListKind): string {
  return `notifications/${kind}/list_changed`;
}

/** A 2025-era host that is told of changes. */
class SessionListener implements Listener {
  constructor(
    readonly surface: HostSurface,
    private readonly host: Host,
  ) {}

  changed(kind: ListKind): void {
    this.host.notify(listChanged(kind), undefined);
  }
}

/** What all transports of a front share. */
interface FrontParts {
  readonly gateway: Gateway;
  readonly log: Log;
  readonly feed: BriefingFeed;
  readonly listeners: Set<Listener>;
}

/** A transport whose host is told of changes, and can be told about skills. */
export class BriefedHostTransport extends LegacyHostTransport {
  private listener: Listener | undefined;
  private unfollow: (() => void) | undefined;

  constructor(
    wire: HostWire,
    options: LegacyHostTransportOptions,
    private readonly parts: FrontParts,
  ) {
    super(wire, options, parts.log);
  }

  /** From now on the host reads what is sent outside of its requests: briefings are sent to it. */
  startBriefing(): void {
    if (!this.session || !this.surface?.skills || this.unfollow) return;
    const { host } = this.session;
    this.unfollow = this.parts.feed.follow(newId(), (params) => host.notify('notifications/message', params));
  }

  protected override onOpen({ host }: LegacySession, surface: HostSurface): void {
    this.listener = new SessionListener(surface, host);
    this.parts.listeners.add(this.listener);
  }

  protected override onLogLevel({ host }: LegacySession): void {
    void this.parts.gateway.hosts.setLogLevel(host);
  }

  protected override onNotification({ host }: LegacySession, method: string, params: JsonObject | undefined): void {
    if (method === 'notifications/roots/list_changed') this.parts.gateway.hosts.tell(host, method, params);
    // Over a pipe there is one stream for everything, and it is read from the beginning.
    if (method === 'notifications/initialized' && this.options.isPipe) this.startBriefing();
  }

  protected override onGone({ host }: LegacySession): void {
    this.unfollow?.();
    if (this.listener) this.parts.listeners.delete(this.listener);
    // Connections that others share go on.
    if (host.session) this.parts.gateway.hosts.release(host);
  }
}

/** Names of hosts whose menu is kept. */
const MAX_NAMES = 100;

/** What hosts of one name are offered. */
interface HostMenu {
  readonly open: () => HostSurface;
  /** The surface for calls. */
  shared: HostSurface | undefined;
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
    states: gateway.internal,
    follow: feed.follow,
    onLost: (thrown) => log.debug('mcp.notification-lost', { error: messageOf(thrown) }),
  });

  const announce = (event: ToolscoutEvent): void => {
    if (event.type === 'skills') {
      for (const listener of listeners) if (listener.surface.skills) listener.changed('resources');
    }
    if (event.type !== 'learned' && event.type !== 'reloaded' && event.type !== 'reconsidered') return;
    const server = event.type === 'reloaded' ? undefined : event.server;
    const kinds = event.type === 'learned' ? EVERY_KIND.filter((kind) => event.changed[kind]) : EVERY_KIND;
    for (const listener of listeners) {
      for (const kind of kinds) if (listener.surface.concerns(server, kind)) listener.changed(kind);
    }
  };
  const stop = gateway.onEvent(announce);
  const parts: FrontParts = { gateway, log, feed, listeners };

  const createMenu = (introduction: JsonObject): (() => HostSurface) => {
    const { mode, hostModes, pinned } = gateway.internal.loaded().config;
    const hostName = hostNameIn(introduction);
    return createCatalogMenu(gateway, {
      info: { ...deps.info },
      mode: createModeChoice(deps.mode ?? mode, hostModes)(introduction),
      pinned,
      items,
      flat: wantsFlat(introduction),
      admin: deps.admin ?? false,
      showsInstructions: knownHost(hostName)?.showsInstructions ?? false,
      hostName,
    });
  };
  let known: { readonly of: unknown; readonly menus: Map<string, HostMenu> } | undefined;
  /** What a host is offered depends on its name and the config alone. */
  const menuFor = (introduction: JsonObject): HostMenu => {
    const loaded = gateway.internal.loaded();
    if (known?.of !== loaded || known.menus.size > MAX_NAMES) known = { of: loaded, menus: new Map() };
    const hostName = hostNameIn(introduction);
    let menu = known.menus.get(hostName);
    if (!menu) {
      menu = { open: createMenu(introduction), shared: undefined };
      known.menus.set(hostName, menu);
    }
    return menu;
  };

  const listen = (listener: Listener): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  return {
    modern,
    listen,
    surfaceFor: (introduction) => menuFor(introduction).open(),
    callSurfaceFor(introduction) {
      const menu = menuFor(introduction);
      return (menu.shared ??= menu.open());
    },
    async serverSurface(server) {
      const surfaceFor = await createServerSurface(gateway, server, items);
      return (introduction) => surfaceFor(wantsFlat(introduction), hostNameIn(introduction));
    },
    transportFor: (wire, options) => new BriefedHostTransport(wire, options, parts),
    close() {
      stop();
      feed.close();
      modern.close();
    },
  };
}
