import {
  presentationFrom,
  suspicionOf,
  type Approvals,
  type Hold,
  type Judgement,
  type Presentation,
  originOf,
} from '../approvals/index.js';
import { STRATEGY_PROVENANCE, type Strategy, type UpstreamFacts, type Validity } from '../discover/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { isAhead } from '../kernel/expiry.js';
import type { JsonObject } from '../kernel/json.js';
import { didYouMean, editDistance, nearestNames } from '../kernel/text.js';
import type { Config } from '../model/config.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import { compileRules, normalizeTool, type Rules } from '../normalize/index.js';
import { trustedItems, type TrustedItems } from './trusted-items.js';
import { launchNameOf } from './launch-name.js';
import { createIndex, type Evidence, type ToolIndex, type KnowledgeSource } from '../search/index.js';

/** What a server said of itself when its tools were learned, and what it has besides tools. */
export type ServerFacts = UpstreamFacts;
/** The learned list of one server, before rules. */
export interface LearnedList extends ServerFacts {
  readonly items: readonly JsonObject[];
  /** Wall-clock time at which the server gave this list. */
  readonly learnedAt: number;
  /** How long its server lets it be kept; `undefined` when it did not say. */
  readonly freshMs?: number | undefined;
  /** Whether it must be listed again whatever its age; changes while the list is in use. */
  readonly validity?: Validity;
  /** How many entries of the list were dropped as malformed. */
  readonly dropped: number;
}

/** Every known tool of every configured server under one set of rules. */
export interface Catalog {
  readonly rules: Rules;
  readonly index: ToolIndex;
  readonly servers: ReadonlyMap<string, Server>;
  /** What is known of a server's list; `undefined` while it was never learned. */
  list(server: string): LearnedList | undefined;
  /** A server's own title, as long as its description is trusted. */
  title(server: string): string | undefined;
  /** Whether a server's own description may be shown (SEC-9). */
  isPresentable(server: string): boolean;
  /** What a server has besides tools, as far as it is trusted; `undefined` while its lists were never learned. */
  items(server: string): TrustedItems | undefined;
  /** The tools of a list under the rules, before trust is judged. */
  read(server: Server, list: LearnedList): Iterable<Tool>;
  /**
   * Puts a server's list into the catalog, replacing what was there; answers its tools. Until it is done all that was there
   * before is found. Of two lists for one server that come at the same time the later is kept.
   */
  put(server: Server, list: LearnedList, tools?: readonly Tool[]): Promise<readonly Tool[]>;
  /** Takes a server's tools out of the catalog. */
  drop(server: string): void;
  /** Why a server may not be started until a person approves it; `undefined` when it may (SEC-9). */
  hold(server: string): Hold | undefined;
  /** Judges a server and its tools again after a decision about them; returns whether it became usable. */
  reconsider(server: string): boolean;
  /** The server of that id, or `SERVER_NOT_FOUND` with the nearest names (META-4). */
  server(id: string): Server;
  /** The tool at an address, if there is one. */
  find(server: string, name: string): Tool | undefined;
  /** The tool at an address, or `TOOL_NOT_FOUND` with the nearest names that the caller may see (META-4). */
  tool(server: string, name: string, namable?: Namable): Tool;
}

/** What a server said of itself, as far as it reaches hosts and models. */
export function presented(facts: ServerFacts): Presentation {
  return facts.rung === undefined ? presentationFrom(facts) : { isUnknown: true };
}

/** Whether a tool may be suggested to the caller. */
export type Namable = (server: string, tool: string) => boolean;

/**
 * What was not listed after a handshake says so, and how sure it is (DISC-6). A tool that the server did not list at all can
 * be looked at and not called; one that shows signs of an attack cannot even be looked at.
 */
function withProvenance(tool: Tool, strategy: Strategy | undefined): Tool {
  if (strategy === undefined) return tool;
  const found: Tool = { ...tool, ...STRATEGY_PROVENANCE[strategy], rung: strategy };
  if (found.provenance === 'protocol' || found.status !== 'enabled') return found;
  const hold = suspicionOf(found);
  return hold === undefined ? { ...found, status: 'disabled' } : { ...found, status: 'quarantined', hold };
}

/** Whether a list stands in for one that the server could not be asked for: it is asked again as soon as it is needed. */
export function isStandIn(list: Pick<LearnedList, 'rung'> | undefined): boolean {
  return list?.rung === 'auto-approved' || list?.rung === 'predicted';
}

/** Whether a list is to be asked for anew whatever its age: its server announced a change, or the cache was cleared. */
export function isInvalid(list: Pick<LearnedList, 'validity'> | undefined): boolean {
  return list?.validity?.isInvalid === true;
}

/** Whether a list is older than `keptMs` or invalid: it may be shown while it is fetched again. */
function isOlderThan(list: LearnedList, keptMs: number, now: number): boolean {
  const age = now - list.learnedAt;
  return isInvalid(list) || age >= keptMs || isAhead(list.learnedAt, now);
}

/** Whether a list is older than its server or else the configuration lets it be. */
export function isStale(list: LearnedList, caching: Config['cache'], now: number): boolean {
  return isOlderThan(list, list.freshMs ?? caching.ttlMs, now);
}

/** Whether a list must be requested again, even if its server must be started for it. */
export function isOverdue(list: LearnedList, caching: Config['cache'], now: number): boolean {
  return isOlderThan(list, caching.ttlMs, now);
}

/** Servers are not started all the time because they let their lists be kept for a moment only. */
const MIN_TTL_MS = 3_600_000;

/** The same for a search, which has time: what a server itself says about keeping its list counts too. */
export function isWorthRefreshing(list: LearnedList, caching: Config['cache'], now: number): boolean {
  return isOverdue(list, caching, now) || (isStale(list, caching, now) && now - list.learnedAt > MIN_TTL_MS);
}

function* normalized(server: Server, list: LearnedList, rules: Rules): Generator<Tool> {
  for (const item of list.items) yield withProvenance(normalizeTool(server, item, rules), list.rung);
}

function* mapped(tools: Iterable<Tool>, apply: (tool: Tool) => Tool): Generator<Tool> {
  for (const tool of tools) yield apply(tool);
}

/** A held server is like one with a problem: it is never started, and every answer says why. */
function withHold(server: Server, hold: Hold | undefined): Server {
  if (!hold) return server;
  const held = server.enabled ? { ...server, problem: hold.reason } : server;
  // Words from another author reach no model before the server is approved (A39).
  return originOf(server) === 'user' ? held : { ...held, title: undefined, description: undefined };
}

/** The status a tool has by its rule, or by trust when the rule enables it: the two that keep it away in order. */
function judged(tool: Tool, judgement: Judgement): Tool {
  if (tool.status !== 'enabled' || tool.provenance !== 'protocol') return tool;
  const decision = judgement.judge(tool);
  return decision.status === 'enabled' ? tool : { ...tool, ...decision };
}

/** The tool under the rules, before trust is judged. */
function unjudged(tool: Tool): Tool {
  if (tool.status === 'enabled' || tool.status === 'disabled' || tool.provenance !== 'protocol') return tool;
  const { hold: _hold, ...ruled } = tool;
  return { ...ruled, status: 'enabled' };
}

/** An empty catalog over a configuration; lists are put in as they become known. Without approvals all are trusted. */
export function createCatalog(
  config: Config,
  servers: readonly Server[],
  knowledge?: KnowledgeSource,
  approvals?: Pick<Approvals, 'hold' | 'judge'>,
): Catalog {
  const rules = compileRules(config.toolRules);
  const index = createIndex(knowledge);
  const holdOf = (server: Server): Hold | undefined => approvals?.hold(server, config.approval);
  const configured = new Map(servers.map((server) => [server.id, server]));
  const byId = new Map(servers.map((server) => [server.id, withHold(server, holdOf(server))]));
  const lists = new Map<string, LearnedList>();
  /** The put under way for each server, so that of two the later is kept. */
  const latest = new Map<string, symbol>();
  /** How often anything was judged again. */
  let rulings = 0;
  /** What is trusted besides tools, as it was found out last. */
  const trusted = new Map<
    string,
    { readonly list: LearnedList; readonly rulings: number; readonly items: TrustedItems }
  >();
  /** Servers whose own description is not trusted yet. */
  const disguised = new Set<string>();

  const serverOf = (id: string): Server => {
    const server = byId.get(id);
    if (server) return server;
    const nearest = nearestNames(id, byId.keys());
    throw new ToolscoutError('SERVER_NOT_FOUND', `There is no server "${id}".${didYouMean(nearest)}`);
  };

  const find: Catalog['find'] = (server, name) => {
    const prefix = `${server}:`;
    const plain = name.startsWith(prefix) ? index.tool(server, name.slice(prefix.length)) : undefined;
    return index.tool(server, name) ?? plain;
  };

  const read: Catalog['read'] = (server, list) => normalized(server, list, rules);
  /** How a server and its tools stand now, and what may be said of it. */
  const judgementOf = (server: Server, list: LearnedList): Judgement | undefined =>
    approvals?.judge(configured.get(server.id) ?? server, presented(list), config.approval);
  const itemsOf = (id: string): TrustedItems | undefined => {
    const list = lists.get(id);
    const server = configured.get(id);
    if (!list || !server) return undefined;
    const known = trusted.get(id);
    if (known?.list === list && known.rulings === rulings) return known.items;
    const items = trustedItems(id, list, judgementOf(server, list));
    trusted.set(id, { list, rulings, items });
    return items;
  };
  const judge = (server: Server, list: LearnedList): { apply: (tool: Tool) => Tool; isPresentable: boolean } => {
    const judgement = judgementOf(server, list);
    return judgement
      ? { apply: (tool) => judged(tool, judgement), isPresentable: judgement.isPresentable }
      : { apply: (tool) => tool, isPresentable: true };
  };
  const evidenceOf = (server: Server, { info }: LearnedList, isPresentable: boolean): Evidence => ({
    title: server.title ?? (isPresentable ? info?.title : undefined),
    name: isPresentable ? info?.name : undefined,
    launch: launchNameOf(server.shown),
  });
  const note = (id: string, list: LearnedList, isPresentable: boolean): void => {
    lists.set(id, list);
    if (isPresentable) disguised.delete(id);
    else disguised.add(id);
  };
  const put: Catalog['put'] = async (server, list, raw) => {
    const own = Symbol(server.id);
    latest.set(server.id, own);
    // A decision in between restarts it; a newer list ends it.
    while (latest.get(server.id) === own) {
      const before = rulings;
      const { apply, isPresentable } = judge(server, list);
      const tools = mapped(raw ?? read(server, list), apply);
      if (await index.fill(server.id, tools, evidenceOf(server, list, isPresentable))) {
        if (latest.get(server.id) !== own) break;
        latest.delete(server.id);
        note(server.id, list, isPresentable);
        if (rulings !== before) judgeAgain(server);
      }
    }
    return index.tools(server.id);
  };
  /**
   * Synchronous: a change of trust must apply at once. A list that is being read starts again. Only the indexed words
   * of the server's own description follow later, when they become usable or unusable.
   */
  const judgeAgain = (server: Server): void => {
    rulings++;
    const list = lists.get(server.id);
    const judgement = list && judge(server, list);
    index.restate(server.id, (tool) => (judgement ? judgement.apply(unjudged(tool)) : tool));
    if (!judgement) return;
    const isRenamed = judgement.isPresentable === disguised.has(server.id);
    note(server.id, list, judgement.isPresentable);
    if (isRenamed && !latest.has(server.id)) void put(server, list);
  };
  const drop = (server: string): void => {
    latest.delete(server);
    lists.delete(server);
    trusted.delete(server);
    index.remove(server);
  };

  return {
    rules,
    index,
    servers: byId,
    list: (server) => lists.get(server),
    title: (server) => (disguised.has(server) ? undefined : lists.get(server)?.info?.title),
    isPresentable: (server) => !disguised.has(server),
    items: itemsOf,
    read,
    put,
    hold(id) {
      const server = configured.get(id);
      return server && holdOf(server);
    },
    reconsider(id) {
      const server = configured.get(id);
      if (!server) return false;
      const hold = holdOf(server);
      const wasHeld = byId.get(id) !== server;
      byId.set(id, withHold(server, hold));
      if (hold) drop(id);
      else judgeAgain(server);
      return wasHeld && !hold;
    },
    drop,
    server: serverOf,
    find,
    tool(server, name, namable = () => true) {
      serverOf(server);
      const tool = find(server, name);
      if (tool && namable(server, tool.name)) return tool;
      // By name, then by words; those of the server that was asked come first.
      const own = index
        .nearest(name, { server, accepts: namable }, 3)
        .map((address) => address.slice(server.length + 1));
      // One that differs in a letter or two is what was meant; of other servers only a name that is spelled alike is worth a call.
      const isTypo = own[0] !== undefined && editDistance(name.toLowerCase(), own[0].toLowerCase(), 2) <= 2;
      const elsewhere = index
        .nearest(name, { accepts: (id, other) => id !== server && namable(id, other) }, 2)
        .filter((address) => nearestNames(name, [address.slice(address.indexOf(':') + 1)], 1).length > 0);
      const near = didYouMean(isTypo ? own.slice(0, 1) : [...own, ...elsewhere].slice(0, 3));
      throw new ToolscoutError('TOOL_NOT_FOUND', `Server "${server}" has no tool "${name}".${near}`, {
        remedy: { kind: 'find-tool', server },
      });
    },
  };
}

/** True when a server may be connected to at all. */
export function isUsable(server: Server): boolean {
  return server.enabled && server.problem === undefined;
}
