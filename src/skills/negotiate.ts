import { shellWord } from '../kernel/remedy.js';
import { nearestNames } from '../kernel/text.js';
import type { Binding, CapabilityOrigin, MissingCapability, Negotiation, Skill } from '../model/skill.js';
import type { Tool } from '../model/tool.js';
import { capabilitiesOfTool, isWildcard, matcherOf, toolsServing } from './capability.js';

/** The input of a negotiation about one server. */
export interface OfferingServer {
  readonly id: string;
  /** The user wrote it down. What a project or a caller brought never comes before such a server (A51). */
  readonly isOwn?: boolean;
  /** Written in the configuration. */
  readonly declared: readonly string[];
  /** Found out by asking the server. */
  readonly probed: readonly string[];
  /** The tools that may be called under the rules in force; `undefined` while the list is not known. */
  readonly tools: readonly Tool[] | undefined;
  /** Derived from the tools: capability → tools. */
  readonly derived: ReadonlyMap<string, readonly string[]>;
}

/** How a server is doing; nothing is said of one that may not be used at all. */
export interface ServerCondition {
  /** Why it may not be used. */
  readonly off?: string;
  /** Why it fails now. */
  readonly failing?: string;
}

/** `unverified`: its tools are not known yet, so it was never seen to work. */
type CandidateHealth = 'healthy' | 'unverified' | 'failing';

interface Candidate {
  readonly server: string;
  readonly isForeign: boolean;
  readonly capability: string;
  readonly origin: CapabilityOrigin;
  readonly health: CandidateHealth;
  readonly tools: readonly string[] | undefined;
}

const HEALTH_ORDER: readonly CandidateHealth[] = ['healthy', 'unverified', 'failing'];
const ORDER: readonly CapabilityOrigin[] = ['declared', 'probed', 'derived'];

/** Capabilities of a server that are known from its tools. */
export function deriveCapabilities(tools: readonly Tool[]): Map<string, string[]> {
  const derived = new Map<string, string[]>();
  for (const tool of tools) {
    for (const capability of capabilitiesOfTool(tool)) {
      const known = derived.get(capability);
      if (known) known.push(tool.name);
      else derived.set(capability, [tool.name]);
    }
  }
  return derived;
}

/** The user's own first, then healthy ones, declared before derived, then by name (NEG-3, A51). */
function compare(a: Candidate, b: Candidate): number {
  if (a.isForeign !== b.isForeign) return a.isForeign ? 1 : -1;
  if (a.health !== b.health) return HEALTH_ORDER.indexOf(a.health) - HEALTH_ORDER.indexOf(b.health);
  return ORDER.indexOf(a.origin) - ORDER.indexOf(b.origin) || (a.server < b.server ? -1 : 1);
}

/** The capabilities of a server that meet a request, each by the best way it is known. */
function offersFor(request: string, server: OfferingServer): Map<string, CapabilityOrigin> {
  const isMet = matcherOf(request);
  const met = new Map<string, CapabilityOrigin>();
  const note = (capability: string, origin: CapabilityOrigin): void => {
    const name = isWildcard(request) ? capability : request;
    if (!met.has(name)) met.set(name, origin);
  };
  for (const declared of server.declared) {
    // A user may declare that a server has everything of a kind; a server's own declaration is taken literally.
    const isForAll = isWildcard(declared) && server.isOwn !== false;
    const isNamed = isMet(declared) && (server.isOwn !== false || !isWildcard(declared));
    if (isNamed || (isForAll && matcherOf(declared)(request))) note(declared, 'declared');
  }
  for (const probed of server.probed) if (!isWildcard(probed) && isMet(probed)) note(probed, 'probed');
  for (const derived of server.derived.keys()) if (isMet(derived)) note(derived, 'derived');
  return met;
}

function derivedTools(capability: string, { derived }: OfferingServer): readonly string[] {
  const isSame = matcherOf(capability);
  return [...new Set([...derived].flatMap(([name, tools]) => (isSame(name) ? tools : [])))];
}

function toolsOf(capability: string, origin: CapabilityOrigin, server: OfferingServer): readonly string[] | undefined {
  if (origin === 'derived') return derivedTools(capability, server);
  return server.tools && toolsServing(capability, server.tools);
}

interface Found {
  readonly bindings: Binding[];
  readonly missing?: MissingCapability;
  readonly impaired: MissingCapability[];
  /** Something of it is bound to a server that may work: none is known to fail. */
  readonly isUsable: boolean;
}

type Condition = (server: string) => ServerCondition;

function why(request: string, hindrances: readonly string[], servers: readonly OfferingServer[], condition: Condition) {
  if (hindrances.length > 0) return hindrances.join('; ');
  const known = new Set(servers.flatMap((server) => [...server.declared, ...server.probed, ...server.derived.keys()]));
  const [nearest] = nearestNames(request, known, 1);
  const unread = servers.filter(({ id, tools }) => !tools && !condition(id).off).map(({ id }) => id);
  const more = unread.length === 0 ? '' : `; not known yet: the tools of ${unread.slice(0, 5).join(', ')}`;
  return `no server offers it${nearest === undefined ? '' : `; the nearest is ${nearest}`}${more}`;
}

/** A binding that rests on a declaration alone; it is not called ready (NEG-3). */
function unverified(capability: string, server: string): MissingCapability {
  return {
    capability,
    reason: `"${server}" declares it, but its tools are not known yet`,
    action: `Learn the tools of the server: toolscout discover ${shellWord(server)}.`,
  };
}

function find(request: string, servers: readonly OfferingServer[], condition: Condition): Found {
  const candidates = new Map<string, Candidate[]>();
  const hindrances: string[] = [];
  for (const server of servers) {
    const { off, failing } = condition(server.id);
    for (const [capability, origin] of offersFor(request, server)) {
      const tools = toolsOf(capability, origin, server);
      if (off !== undefined) hindrances.push(`"${server.id}" offers it, but is off: ${off}`);
      else if (tools?.length === 0) {
        hindrances.push(`"${server.id}" declares it, but none of its tools serves it; tag those that do with it`);
      } else {
        const list = candidates.get(capability) ?? [];
        candidates.set(capability, list);
        const health = failing !== undefined ? 'failing' : tools === undefined ? 'unverified' : 'healthy';
        list.push({ server: server.id, isForeign: server.isOwn === false, capability, origin, health, tools });
      }
    }
  }
  const bindings: Binding[] = [];
  const impaired: MissingCapability[] = [];
  let isUsable = false;
  for (const [capability, list] of [...candidates].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [best, ...others] = list.toSorted(compare);
    if (!best) continue;
    const { server, origin, health, tools } = best;
    bindings.push({
      request,
      capability,
      server,
      origin,
      healthy: health === 'healthy',
      tools,
      alternatives: others.map((each) => each.server),
    });
    if (health !== 'failing') isUsable = true;
    if (health === 'unverified') impaired.push(unverified(capability, server));
    if (health === 'failing') {
      const reason = `"${server}" fails: ${condition(server).failing}`;
      impaired.push({ capability, reason, action: 'Run toolscout doctor to see why the server fails.' });
    }
  }
  if (bindings.length > 0) return { bindings, impaired, isUsable };
  const reason = why(request, [...new Set(hindrances)], servers, condition);
  const isUnsure = servers.some(({ id, tools }) => !tools && condition(id).off === undefined);
  const action =
    hindrances.length > 0
      ? `Make a server that offers ${request} usable, or remove the capability from the skill.`
      : isUnsure
        ? 'Discover the tools of servers that were not asked yet: toolscout discover.'
        : `Configure a server that offers ${request}, or declare it in the capabilities of one that does.`;
  return { bindings, impaired, isUsable, missing: { capability: request, reason, action } };
}

/**
 * Finds for every capability of a skill who serves it (NEG-3). Pure: the same skill, servers and conditions give the
 * same answer.
 */
export function negotiate(
  skill: Pick<Skill, 'capabilities'>,
  servers: readonly OfferingServer[],
  condition: (server: string) => ServerCondition,
): Negotiation {
  const requests = [...new Set(skill.capabilities.map(({ name }) => name))];
  const found = requests.map((request) => find(request, servers, condition));
  const bindings = found.flatMap((each) => each.bindings);
  const missing = found.flatMap((each) => each.missing ?? []);
  const impaired = found.flatMap((each) => each.impaired);
  const isComplete = missing.length === 0 && impaired.length === 0;
  const isUsable = found.some((each) => each.isUsable);
  const state = isComplete ? 'READY' : isUsable ? 'DEGRADED' : 'UNAVAILABLE';
  return { state, bindings, missing, impaired };
}

/** Whether one of the bindings covers a tool (NEG-5). */
export function covers({ bindings }: Negotiation, server: string, tool: string): boolean {
  return bindings.some((binding) => binding.server === server && binding.tools?.includes(tool));
}
