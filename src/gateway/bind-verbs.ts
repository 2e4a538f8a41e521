import { forbidden } from '../execute/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { Viewer } from '../model/viewer.js';
import type { Gateway } from './contract.js';
import type { BoundVerbs, VerbName, VerbTable } from './verbs/define-verbs.js';
import { callerOf, within } from './viewer.js';

/** Who may use a verb at all. */
type Audience =
  /** Every viewer: the verb shows and reaches what the viewer sees. */
  | 'every viewer'
  /** Every viewer, but no skill. */
  | 'callers'
  /** Viewers that see all servers: the verb is about all of them. */
  | 'all servers'
  /** Viewers that see all servers, and skills on their behalf. */
  | 'all servers or a skill';

/** A new verb is about all servers until its implementation narrows what it answers to what the viewer sees. */
const AUDIENCES: Readonly<Record<VerbName, Audience>> = {
  ready: 'every viewer',
  search: 'every viewer',
  details: 'every viewer',
  call: 'every viewer',
  stream: 'every viewer',
  run: 'every viewer',
  why: 'every viewer',
  reload: 'all servers',
  onEvent: 'every viewer',
  close: 'all servers or a skill',
  'servers.list': 'every viewer',
  'servers.facts': 'every viewer',
  'servers.discover': 'all servers',
  'servers.discoverTools': 'callers',
  'servers.discoverResources': 'callers',
  'servers.discoverPrompts': 'callers',
  'servers.add': 'all servers',
  'servers.discoverRaw': 'all servers',
  'servers.connect': 'all servers',
  'servers.disconnect': 'all servers',
  'servers.introspect': 'all servers',
  'servers.register': 'all servers',
  'servers.unregister': 'all servers',
  'servers.signIn': 'all servers',
  'servers.signOut': 'all servers',
  'servers.signInStatus': 'all servers',
  'tools.list': 'every viewer',
  'tools.offered': 'every viewer',
  'tools.definition': 'every viewer',
  'tools.signature': 'every viewer',
  'tools.declaration': 'every viewer',
  'tools.clearCache': 'all servers',
  'tools.forgetUsage': 'all servers',
  'tools.cacheStats': 'all servers',
  'approvals.list': 'callers',
  'approvals.approve': 'all servers',
  'approvals.reject': 'all servers',
  'approvals.diff': 'callers',
  'approvals.calls': 'callers',
  'approvals.approveCall': 'all servers',
  'approvals.rejectCall': 'all servers',
  'skills.list': 'all servers or a skill',
  'skills.check': 'all servers',
  'skills.bind': 'all servers',
  'skills.get': 'all servers',
  'skills.viewer': 'all servers',
  'registry.get': 'callers',
  'registry.search': 'all servers',
  'registry.discover': 'all servers',
  'registry.serversFor': 'all servers',
  'registry.plan': 'all servers',
  'audit.list': 'all servers',
  'audit.follow': 'all servers',
  'audit.verify': 'all servers',
  'audit.export': 'all servers',
  'audit.stats': 'callers',
  'config.storeStatus': 'callers',
  'config.acceptStore': 'all servers',
  'config.show': 'callers',
  'exports.write': 'all servers',
  'lock.write': 'all servers',
  'lock.check': 'all servers',
  'exports.marketplace': 'all servers',
  'exports.manifest': 'all servers',
  'exports.register': 'all servers',
  'reports.doctor': 'all servers',
  'reports.evaluate': 'all servers',
  'reports.scan': 'all servers',
  'hosts.relay': 'callers',
  'hosts.subscribe': 'callers',
  // These reach only servers that the host is connected to, and it came to those through verbs that were checked.
  'hosts.tell': 'every viewer',
  'hosts.setLogLevel': 'every viewer',
  'hosts.release': 'every viewer',
  'hosts.noteMenu': 'every viewer',
  'hosts.noteAnswer': 'every viewer',
  'internal.coverage': 'every viewer',
  'internal.afford': 'every viewer',
  'internal.budget': 'every viewer',
  'internal.knownFacts': 'every viewer',
  'internal.sealState': 'every viewer',
  'internal.openState': 'every viewer',
  'internal.keepLinks': 'every viewer',
  'internal.linkGivers': 'every viewer',
  'internal.overload': 'every viewer',
  'internal.reserve': 'every viewer',
  'internal.settle': 'every viewer',
  'internal.lineage': 'every viewer',
  'internal.loaded': 'every viewer',
  'internal.tokens': 'all servers',
  'internal.traffic': 'every viewer',
  'sessions.open': 'all servers',
  'sessions.find': 'all servers',
  'sessions.end': 'all servers',
  'sessions.isLive': 'all servers',
  'sessions.onEnd': 'all servers',
  'sessions.issueTicket': 'all servers',
  'sessions.takeTicket': 'all servers',
  'studio.overview': 'callers',
  'studio.server': 'callers',
  'studio.heldTools': 'callers',
  'studio.followCalls': 'callers',
  'studio.configFile': 'all servers',
  'studio.planConfig': 'all servers',
  'studio.applyConfig': 'all servers',
  'studio.setEnabled': 'all servers',
  'studio.planImport': 'all servers',
  'studio.applyImport': 'all servers',
  'studio.previewRules': 'callers',
  'studio.addLabel': 'all servers',
  'studio.labels': 'all servers',
  'studio.savedCalls': 'callers',
  'studio.saveCalls': 'callers',
  'studio.removeSavedCall': 'callers',
  'studio.traffic': 'callers',
  'studio.followTraffic': 'callers',
};

/** Why a viewer may not use a verb at all; `undefined` when they may. */
function refusalOf(viewer: Viewer, name: VerbName): ToolscoutError | undefined {
  const audience = AUDIENCES[name];
  if (audience.startsWith('all servers') && callerOf(viewer).isLimited) {
    return new ToolscoutError(
      'FORBIDDEN',
      'This operation needs access to all servers, but this caller has access to only some of them.',
    );
  }
  const isForSkills = audience === 'every viewer' || audience === 'all servers or a skill';
  return viewer.skill && !isForSkills ? forbidden(viewer.skill.id, name) : undefined;
}

/** Where each verb stands: `servers.list` is `list` of the facet `servers`; what has no facet stands at the top. */
const PLACES = (Object.keys(AUDIENCES) as VerbName[]).map((name) => {
  const [facet, verb] = name.includes('.') ? name.split('.') : [undefined, name];
  return { name, facet, verb: verb! };
});

/** Puts verbs into the facets that their names say. */
function place(verbs: Partial<BoundVerbs>, around?: Gateway): Omit<Gateway, 'as'> {
  const top: Record<string, unknown> = { ...around };
  const facets: Record<string, Record<string, unknown>> = {};
  for (const { name, facet, verb } of PLACES) {
    if (!Object.hasOwn(verbs, name)) continue;
    if (facet === undefined) top[verb] = verbs[name];
    else (facets[facet] ??= { ...around?.[facet as keyof Gateway] })[verb] = verbs[name];
  }
  return { ...top, ...facets } as unknown as Omit<Gateway, 'as'>;
}

/** The gateway as one viewer has it. Made once for each viewer: a call through it costs nothing more. */
export function bindVerbs(verbs: VerbTable, viewer: Viewer): Gateway {
  const bound = PLACES.map(({ name }) => {
    const refuse = (): never => {
      throw refusalOf(viewer, name)!;
    };
    return [
      name,
      refusalOf(viewer, name) ? refuse : (verbs[name] as (...args: unknown[]) => unknown).bind(undefined, viewer),
    ];
  });
  return {
    ...place(Object.fromEntries(bound) as BoundVerbs),
    as: (other) => bindVerbs(verbs, within(viewer, other)),
  };
}

/**
 * A gateway with something around some of its verbs, such as a measurement, for every viewer that it is bound to. `around` calls the
 * gateway that it is given, which refuses what the viewer may not.
 */
export function wrapGateway(gateway: Gateway, around: (inner: Gateway) => Partial<BoundVerbs>): Gateway {
  return { ...place(around(gateway), gateway), as: (viewer) => wrapGateway(gateway.as(viewer), around) };
}
