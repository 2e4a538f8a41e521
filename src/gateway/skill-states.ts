import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { Server } from '../model/server.js';
import type { AgentBriefingEvent, Negotiation, Skill } from '../model/skill.js';
import type { Tool } from '../model/tool.js';
import type { OfferingServer, ServerCondition, SkillSet } from '../skills/index.js';
import { originOf } from '../approvals/index.js';
import type { Core } from './core.js';
import { problemOf } from '../catalog/views.js';
import { isUsable } from '../catalog/catalog.js';

/** The skills there are and how each stands, in step with files and servers. */
export interface SkillStates {
  /** Resolves when the skills of the config have been read; never rejects. */
  loaded(): Promise<void>;
  skills(): readonly Skill[];
  /** How a skill stands; whatever changed since the last look is taken in first. */
  of(skill: string): Negotiation | undefined;
  covers(skill: string, server: string, tool: string): boolean;
  /** Reads a skill that is not configured, looks at the servers it would be bound to, and reports its state. */
  tryOut(path: string): Promise<Skill & Negotiation>;
  /**
   * Looks at the servers that skills are bound to: whether their command is there. With `connect` those that were never
   * asked are asked, and remote ones are checked. What it finds is part of the next answer; never rejects.
   */
  verify(negotiations: readonly Negotiation[], options?: { readonly connect?: boolean }): Promise<void>;
  /** The last briefing about a skill. */
  briefing(skill: string): AgentBriefingEvent | undefined;
  /** Every negotiation, as it stands now. */
  all(): readonly Negotiation[];
  /** Servers that fail and that a skill waits for. */
  struggling(): ReadonlySet<string>;
  /** Negotiates again. */
  reconsider(): void;
  close(): void;
}

/** Needed only where there are skills, so it is loaded then. */
async function loadRoom() {
  const { covers, createBriefings, deriveCapabilities, negotiate, readSkill, readSkills, watchSkills } =
    await import('../skills/index.js');
  return { covers, createBriefings, deriveCapabilities, negotiate, readSkill, readSkills, watchSkills };
}

type Room = Awaited<ReturnType<typeof loadRoom>>;

/** Changes that come together are one. */
const SETTLE_MS = 25;

interface Loaded {
  readonly room: Room;
  readonly set: SkillSet;
}

/** Reads the skills and negotiates for them, again after each change. Loads nothing without skills. */
export function createSkillStates(core: Core): SkillStates {
  const { clock, log, pool } = core.deps;
  const probed = (id: string): readonly string[] => core.probed.get(id) ?? [];
  let current: Loaded | undefined;
  let loading: Promise<void> | undefined;
  let directories: readonly string[] = [];
  let watching: { close(): void } | undefined;
  let briefings: ReturnType<Room['createBriefings']> | undefined;
  let negotiated: ReadonlyMap<string, Negotiation> | undefined;
  let timer: { cancel(): void } | undefined;
  let closed = false;
  const told = new Map<string, AgentBriefingEvent>();
  /** Servers whose command was not there when it was looked for. */
  const unstartable = new Map<string, { readonly digest: string; readonly reason: string }>();
  /** Derived capabilities by server, as long as its list is the same. */
  const derived = new Map<string, { list: unknown; tools: readonly Tool[]; capabilities: Map<string, string[]> }>();

  const offering = (room: Room): OfferingServer[] =>
    [...core.catalog.servers.values()].map((server) => {
      const list = core.catalog.list(server.id);
      const isOwn = originOf(server) === 'user';
      const base = { id: server.id, isOwn, declared: server.capabilities ?? [], probed: probed(server.id) };
      if (!list) return { ...base, tools: undefined, derived: new Map() };
      let known = derived.get(server.id);
      if (known?.list !== list) {
        const tools = core.catalog.index.tools(server.id).filter(({ status }) => status === 'enabled');
        known = { list, tools, capabilities: room.deriveCapabilities(tools) };
        derived.set(server.id, known);
      }
      return { ...base, tools: known.tools, derived: known.capabilities };
    });

  const condition = (id: string): ServerCondition => {
    const server = core.catalog.servers.get(id);
    const sources = { catalog: core.catalog, learner: core.learner, pool, hide: core.hide, isStale: core.isStale };
    if (!server) return { off: 'it is not configured' };
    if (!isUsable(server)) return { off: problemOf(server, sources) ?? 'it cannot be used' };
    const { state, breaker, lastError } = pool.health(id);
    const missing = unstartable.get(id);
    const failing =
      problemOf(server, sources) ??
      (missing?.digest === server.digest ? missing.reason : undefined) ??
      (state === 'error' ? (lastError ?? 'it cannot be reached') : undefined);
    if (failing !== undefined) return { failing: core.hide(failing) };
    return breaker === 'open' ? { failing: 'it failed repeatedly and is left alone' } : {};
  };

  const negotiateAll = ({ room, set }: Loaded): ReadonlyMap<string, Negotiation> => {
    const servers = offering(room);
    return new Map(set.skills.map((skill) => [skill.id, room.negotiate(skill, servers, condition)]));
  };

  /** The state now; whatever changed since the last look is taken in first. */
  const now = (): ReadonlyMap<string, Negotiation> => {
    if (!current) return new Map();
    return (negotiated ??= negotiateAll(current));
  };

  /** The servers of these negotiations that may be used, bound ones and alternatives. */
  const candidates = (negotiations: readonly Negotiation[]): Server[] => {
    const ids = new Set(
      negotiations.flatMap(({ bindings }) => bindings.flatMap(({ server, alternatives }) => [server, ...alternatives])),
    );
    return [...ids].flatMap((id) => core.catalog.servers.get(id) ?? []).filter(isUsable);
  };

  const findCommand = async (server: Server): Promise<void> => {
    const reason = await core.deps.missingCommand?.(server);
    if (reason === undefined) unstartable.delete(server.id);
    else unstartable.set(server.id, { digest: server.digest, reason });
  };

  /** Learns servers that were not asked yet, and pings remote ones. Failures show in their state. */
  const connectTo = async (servers: readonly Server[]): Promise<void> => {
    const isUnknown = ({ id }: Server): boolean => !core.catalog.list(id);
    const remote = servers.filter(
      (server) =>
        !isUnknown(server) && server.transport.type !== 'stdio' && pool.health(server.id).state !== 'connected',
    );
    const pings = remote.map((server) =>
      pool
        .ping(server)
        .catch((thrown: unknown) =>
          log.info('skill.unreachable', { server: server.id, reason: core.hide(messageOf(thrown)) }),
        ),
    );
    const { maxParallelDiscoveries: parallel, lendSlots: lending } = core.loaded.config;
    const lendSlots = lending !== false;
    await Promise.all([core.learner.learnAll(servers.filter(isUnknown), { parallel, lendSlots }), ...pings]);
  };

  const verify: SkillStates['verify'] = async (negotiations, { connect = false } = {}) => {
    const servers = candidates(negotiations);
    await Promise.all(servers.map(findCommand));
    if (connect) await connectTo(servers.filter(({ id }) => !unstartable.has(id)));
    negotiated = undefined;
  };

  const tell = (): void => {
    if (!current || !briefings || closed) return;
    const states = now();
    briefings.retain(new Set(states.keys()));
    for (const id of told.keys()) if (!states.has(id)) told.delete(id);
    // A server that is being learned may offer what is missing, so a degradation is not announced yet.
    const isLearning = core.learner.learning().length > 0;
    for (const skill of current.set.skills) {
      const negotiation = states.get(skill.id);
      if (!negotiation || (isLearning && negotiation.state !== 'READY')) continue;
      const briefing = briefings.note(skill, negotiation);
      if (!briefing) continue;
      const { type, severity, content } = briefing;
      const say = severity === 'INFO' ? log.info : log.warn;
      say('skill.briefing', { skill: skill.id, type, summary: content.summary, detail: content.detail });
      told.set(skill.id, briefing);
      core.events.emit({ type: 'briefing', briefing });
    }
    core.keeper.check();
  };
  const soon = (): void => {
    negotiated = undefined;
    if (closed || !current) return;
    timer ??= clock.after(SETTLE_MS, () => {
      timer = undefined;
      // A learner removes a server from its list only after the event.
      tell();
    });
  };

  const take = async (room: Room, set: SkillSet): Promise<void> => {
    const before = current?.set.skills.map(({ id }) => id) ?? [];
    const ids = set.skills.map(({ id }) => id);
    current = { room, set };
    negotiated = undefined;
    if (ids.join('\n') !== before.join('\n')) core.events.emit({ type: 'skills', skills: ids });
    briefings ??= room.createBriefings({ now: clock.now });
    for (const { path, message } of set.problems) log.warn('skill.unreadable', { path, reason: message });
    await verify([...now().values()]);
    soon();
  };

  const load = async (): Promise<void> => {
    await core.filled();
    directories = core.loaded.config.skills.directories;
    watching?.close();
    watching = undefined;
    if (directories.length === 0) {
      current = undefined;
      return;
    }
    const room = await loadRoom();
    const set = await room.readSkills(directories);
    if (closed) return;
    await take(room, set);
    if (closed) return;
    if (!core.deps.watchSkills) return;
    watching = room.watchSkills(directories, set.hash, { clock, log, onChange: (next) => void take(room, next) });
  };
  const loaded = (): Promise<void> =>
    (loading ??= load().catch((thrown: unknown) => log.error('skill.unreadable', { reason: messageOf(thrown) })));

  const forget = core.events.on((event) => {
    if (event.type === 'reloaded') {
      derived.clear();
      negotiated = undefined;
      loading = undefined;
      void loaded();
    }
    if (event.type === 'reconsidered') {
      derived.delete(event.server);
      soon();
    }
    if (event.type === 'state' && event.to === 'connected') unstartable.delete(event.server);
    if (
      event.type === 'learned' ||
      event.type === 'learn-failed' ||
      event.type === 'state' ||
      event.type === 'probed'
    ) {
      soon();
    }
  });
  const begin = core.loaded.config.skills.directories.length > 0 ? clock.after(0, () => void loaded()) : undefined;

  return {
    loaded,
    skills: () => current?.set.skills ?? [],
    of: (skill) => now().get(skill),
    covers(skill, server, tool) {
      const negotiation = now().get(skill);
      return negotiation !== undefined && current !== undefined && current.room.covers(negotiation, server, tool);
    },
    async tryOut(path) {
      const room = await loadRoom();
      const skill = await room.readSkill(path).catch((thrown: unknown) => {
        throw new ToolscoutError('SKILL_NOT_FOUND', `${path} cannot be read: ${messageOf(thrown)}`, {
          suggestion: 'Check the path; it must name a skill.md.',
        });
      });
      await verify([room.negotiate(skill, offering(room), condition)], { connect: true });
      return { ...skill, ...room.negotiate(skill, offering(room), condition) };
    },
    verify,
    briefing: (skill) => told.get(skill),
    all: () => [...now().values()],
    struggling() {
      const negotiations = [...now().values()];
      const isFailing = ({ id }: Server): boolean => condition(id).failing !== undefined;
      // What is missing may be just what a server has whose tools could not be learned yet.
      const lacksSome = negotiations.some(({ missing }) => missing.length > 0);
      const unlearned = lacksSome ? [...core.catalog.servers.values()].filter(({ id }) => !core.catalog.list(id)) : [];
      const impaired = negotiations.filter((each) => each.impaired.length > 0);
      const failing = [...candidates(impaired), ...unlearned.filter(isUsable)].filter(isFailing);
      return new Set(failing.map(({ id }) => id));
    },
    reconsider() {
      negotiated = undefined;
    },
    close() {
      closed = true;
      begin?.cancel();
      timer?.cancel();
      watching?.close();
      forget();
    },
  };
}
