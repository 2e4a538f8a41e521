import { forbidden } from '../execute/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { Viewer } from '../model/viewer.js';
import type { Gateway } from './contract.js';
import type { Verbs, VerbTable } from './verbs/define-verbs.js';
import { callerOf, within } from './viewer.js';

/** Who may use a verb at all. */
type Audience =
  /** Every viewer: the verb shows and reaches what the viewer sees. */
  | 'everybody'
  /** Every viewer, but no skill. */
  | 'callers'
  /** Whoever sees all servers: the verb is about all of them. */
  | 'all servers'
  /** Whoever sees all servers, and skills that ask for them. */
  | 'all servers or a skill';

/** A new verb is about all servers until its implementation narrows what it answers to what the viewer sees. */
const AUDIENCES: Readonly<Record<keyof Verbs, Audience>> = {
  ready: 'everybody',
  coverage: 'everybody',
  listServers: 'everybody',
  searchTools: 'everybody',
  listTools: 'everybody',
  offeredTools: 'everybody',
  definitionOf: 'everybody',
  toolDetails: 'everybody',
  toolSignature: 'everybody',
  executeTool: 'everybody',
  executeStream: 'everybody',
  why: 'everybody',
  listSkills: 'all servers or a skill',
  checkSkill: 'all servers',
  bindSkill: 'all servers',
  skill: 'all servers',
  skillViewer: 'all servers',
  serverFacts: 'everybody',
  knownFacts: 'everybody',
  relay: 'callers',
  subscribe: 'callers',
  // These reach only servers that the host is connected to, and it came to those through verbs that were checked.
  tellServers: 'everybody',
  setLogLevel: 'everybody',
  releaseHost: 'everybody',
  discover: 'all servers',
  discoverTools: 'callers',
  discoverResources: 'callers',
  discoverPrompts: 'callers',
  registry: 'callers',
  searchRegistry: 'all servers',
  discoverFromRegistry: 'all servers',
  findServersForCapability: 'all servers',
  planRegistryServer: 'all servers',
  addServer: 'all servers',
  exportTools: 'all servers',
  discoverRaw: 'all servers',
  connect: 'all servers',
  disconnect: 'all servers',
  settle: 'everybody',
  reload: 'all servers',
  clearCache: 'all servers',
  forgetUsage: 'all servers',
  cacheStats: 'all servers',
  storeStatus: 'callers',
  acceptStore: 'all servers',
  audit: 'all servers',
  followAudit: 'all servers',
  doctor: 'all servers',
  evaluate: 'all servers',
  listApprovals: 'callers',
  approve: 'all servers',
  reject: 'all servers',
  diffApproval: 'callers',
  introspectRemoteApi: 'all servers',
  registerServer: 'all servers',
  unregisterServer: 'all servers',
  marketplace: 'all servers',
  toolManifest: 'all servers',
  registerCapability: 'all servers',
  signIn: 'all servers',
  signOut: 'all servers',
  signInStatus: 'all servers',
  lineage: 'everybody',
  config: 'everybody',
  onEvent: 'everybody',
  close: 'all servers or a skill',
};

/** Why a viewer may not use a verb at all; `undefined` when they may. */
function refusalOf(viewer: Viewer, name: keyof Verbs): ToolscoutError | undefined {
  const audience = AUDIENCES[name];
  if (audience.startsWith('all servers') && callerOf(viewer).isLimited) {
    return new ToolscoutError('FORBIDDEN', 'This is about all servers, and this caller may see only some of them.');
  }
  const isForSkills = audience === 'everybody' || audience === 'all servers or a skill';
  return viewer.skill && !isForSkills ? forbidden(viewer.skill.id, name) : undefined;
}

/** The gateway as one viewer has it. Made once for each viewer: a call through it costs nothing more. */
export function bindVerbs(verbs: VerbTable, viewer: Viewer): Gateway {
  const names = Object.keys(AUDIENCES) as Array<keyof Verbs>;
  const bound = names.map((name) => {
    const refuse = (): never => {
      throw refusalOf(viewer, name)!;
    };
    return [
      name,
      refusalOf(viewer, name) ? refuse : (verbs[name] as (...args: unknown[]) => unknown).bind(undefined, viewer),
    ];
  });
  return {
    ...(Object.fromEntries(bound) as Omit<Gateway, 'as'>),
    as: (other) => bindVerbs(verbs, within(viewer, other)),
  };
}

/**
 * A gateway with something around some of its verbs, such as a measurement, for every viewer that it is bound to. `around` calls the
 * gateway that it is given, which refuses what the viewer may not.
 */
export function wrapGateway(gateway: Gateway, around: (inner: Gateway) => Partial<Omit<Gateway, 'as'>>): Gateway {
  return { ...gateway, ...around(gateway), as: (viewer) => wrapGateway(gateway.as(viewer), around) };
}
