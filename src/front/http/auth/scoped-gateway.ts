import {
  explainOutOfScope,
  explainUnseen,
  noServer,
  type CallOptions,
  type DiscoveryTarget,
  type Gateway,
  type GatewayEvent,
  type Registry,
  type Why,
} from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { Approval } from '../../../model/approval.js';
import { hasScope, LOCAL, maySee, type Principal } from '../../../model/principal.js';

/** Every verb refuses; those that can be narrowed are put in place of these, and a new one is closed until it is. */
function closedGateway(gateway: Gateway): Gateway {
  const refuse = (): never => {
    throw new ToolscoutError('FORBIDDEN', 'This is about all servers, and this caller may see only some of them.');
  };
  return Object.fromEntries(Object.keys(gateway).map((verb) => [verb, refuse])) as unknown as Gateway;
}

function scopeRegistry(registry: Registry, principal: Principal): Registry {
  const ids = [...(principal.servers ?? [])];
  return {
    ...registry,
    snapshot: (filters) => registry.snapshot(filters, { ids }),
    refresh: (asked) => registry.refresh((asked ?? ids).filter((id) => maySee(principal, id))),
    problems: () => [],
  };
}

/** Why a tool is or is not offered to this principal, who may be allowed to look only. */
async function explainTo(principal: Principal, gateway: Gateway, server: string, tool: string): Promise<Why> {
  const why = await gateway.why(server, tool);
  if (!why.offered || hasScope(principal, 'call')) return why;
  const reason = `"${why.address}" may be used, but not by "${principal.name}", who lacks the scope "call".`;
  return explainOutOfScope(server, tool, reason);
}

/** How a server is launched is for those who may decide about it (A34): nobody else is told its command or URL. */
function hideLaunches(gateway: Gateway, principal: Principal): Gateway {
  if (hasScope(principal, 'admin')) return gateway;
  const bare = (approval: Approval): Approval => ({
    ...approval,
    target: '',
    // The reasons for the risk of a launch quote it.
    ...(approval.about === 'launch' && { risk: { ...approval.risk, reasons: [] } }),
  });
  return {
    ...gateway,
    listApprovals: async (filter) => (await gateway.listApprovals(filter)).map(bare),
    diffApproval: async (ref, options) =>
      (await gateway.diffApproval(ref, options)).map(({ approval, ...diff }) => ({
        approval: bare(approval),
        ...(approval.about === 'launch' ? { changes: [] } : diff),
      })),
    onEvent: (listener) =>
      gateway.onEvent((event) =>
        listener(event.type === 'approval' ? { ...event, approval: bare(event.approval) } : event),
      ),
  };
}

/** The same gateway; what it does for this principal is done in their name. */
function nameCaller(gateway: Gateway, caller: Principal): Gateway {
  const { name: principal } = caller;
  return {
    ...gateway,
    why: (server, tool) => explainTo(caller, gateway, server, tool),
    searchTools: (query, options) => gateway.searchTools(query, { ...options, principal }),
    executeTool: (server, tool, args, options) => gateway.executeTool(server, tool, args, { ...options, principal }),
    executeStream: (server, tool, args, options) =>
      gateway.executeStream(server, tool, args, { ...options, principal }),
    relay: (server, method, params, options) => gateway.relay(server, method, params, { ...options, principal }),
  };
}

/**
 * The gateway as one principal may use it: other servers are not there, in lists, searches, calls,
 * events and messages alike (S12). For the user of this machine it is the gateway itself.
 */
export function scopeGateway(whole: Gateway, principal: Principal): Gateway {
  const { servers: allowed } = principal;
  if (principal === LOCAL) return whole;
  const gateway = hideLaunches(whole, principal);
  if (allowed === undefined) return nameCaller(gateway, principal);
  const configured = (): ReturnType<Gateway['config']>['servers'] =>
    gateway.config().servers.filter(({ id }) => allowed.has(id));
  const sees = (id: string): boolean => configured().some((server) => server.id === id);
  const check = (id: string): void => {
    if (!sees(id)) throw noServer(id, only());
  };
  /** A server that is described and not configured is none of those that this caller may see. */
  const checkTarget = (target: DiscoveryTarget): void => {
    if (typeof target === 'string') return check(target);
    throw new ToolscoutError('FORBIDDEN', 'This caller may discover configured servers only: name one by its id.');
  };
  const only = (): string[] => configured().map(({ id }) => id);
  const isOfOurs = (event: GatewayEvent): boolean => {
    if (event.type === 'approval') return allowed.has(event.approval.server);
    return 'server' in event && allowed.has(event.server);
  };
  const named = (options: CallOptions | undefined): CallOptions => ({
    ...options,
    principal: principal.name,
    servers: allowed,
  });

  return {
    ...closedGateway(gateway),
    ready: () => gateway.ready(),
    lineage: () => gateway.lineage(),
    storeStatus: () => gateway.storeStatus(),
    settle: (patienceMs) => gateway.settle(patienceMs),
    coverage: () => gateway.coverage(allowed),
    listServers: async (options) => (await gateway.listServers(options)).filter(({ id }) => allowed.has(id)),
    async searchTools(query, options = {}) {
      if (options.server !== undefined) check(options.server);
      return gateway.searchTools(query, { ...options, servers: only(), principal: principal.name });
    },
    async listTools(server, options) {
      check(server);
      return gateway.listTools(server, options);
    },
    // What is not found is answered with the nearest names, and these are of servers that are to be seen.
    async toolDetails(server, tool, options) {
      check(server);
      return gateway.toolDetails(server, tool, { ...options, servers: allowed });
    },
    async toolSignature(server, tool, options) {
      check(server);
      return gateway.toolSignature(server, tool, { ...options, servers: allowed });
    },
    why: async (server, tool) =>
      sees(server) ? explainTo(principal, gateway, server, tool) : explainUnseen(server, tool),
    // What is not to be seen is refused where every call is judged, so that it is in the audit log (EXEC-5).
    executeTool: (server, tool, args, options) => gateway.executeTool(server, tool, args, named(options)),
    executeStream: (server, tool, args, options) => gateway.executeStream(server, tool, args, named(options)),
    offeredTools: async () => (await gateway.offeredTools()).filter(({ server }) => allowed.has(server)),
    definitionOf: (server, tool) => (sees(server) ? gateway.definitionOf(server, tool) : undefined),
    async serverFacts(server) {
      check(server);
      return gateway.serverFacts(server);
    },
    knownFacts: async () => new Map([...(await gateway.knownFacts())].filter(([id]) => allowed.has(id))),
    relay: (server, method, params, options) => gateway.relay(server, method, params, named(options)),
    async subscribe(server, uri, options) {
      check(server);
      return gateway.subscribe(server, uri, options);
    },
    // These reach only servers that the host is connected to, and it came to those through here.
    tellServers: (host, method, params) => gateway.tellServers(host, method, params),
    setLogLevel: (host) => gateway.setLogLevel(host),
    releaseHost: (host) => gateway.releaseHost(host),
    async discoverTools(server, options) {
      checkTarget(server);
      return gateway.discoverTools(server, options);
    },
    async discoverResources(server, options) {
      checkTarget(server);
      return gateway.discoverResources(server, options);
    },
    async discoverPrompts(server, options) {
      checkTarget(server);
      return gateway.discoverPrompts(server, options);
    },
    async registry() {
      const registry = await gateway.registry();
      return registry && scopeRegistry(registry, principal);
    },
    config() {
      const loaded = gateway.config();
      const entries = Object.entries(loaded.config.servers).filter(([id]) => allowed.has(id));
      const config = { ...loaded.config, servers: Object.fromEntries(entries) };
      return { ...loaded, config, servers: configured(), warnings: [] };
    },
    listApprovals: async (filter) =>
      (await gateway.listApprovals(filter)).filter((approval) => allowed.has(approval.server)),
    async diffApproval(ref, options) {
      // An id may itself hold a colon, so what comes back is looked at as well.
      if (![...allowed].some((id) => ref === id || ref.startsWith(`${id}:`))) throw noServer(ref);
      return (await gateway.diffApproval(ref, options)).filter(({ approval }) => allowed.has(approval.server));
    },
    onEvent: (listener) =>
      gateway.onEvent((event) => {
        if (isOfOurs(event)) listener(event);
      }),
  };
}
