import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { Negotiation, Skill } from '../model/skill.js';
import type { Tool } from '../model/tool.js';
import type { OfferingServer, ServerCondition, SkillSet } from '../negotiate/index.js';
import type { Core } from './core.js';
import { isUsable, problemOf } from './views.js';

/** The skills there are and how each stands, in step with files and servers. */
export interface SkillStates {
  /** Resolves when the skills of the config have been read; never rejects. */
  loaded(): Promise<void>;
  skills(): readonly Skill[];
  /** How a skill stands; whatever changed since the last look is taken in first. */
  of(skill: string): Negotiation | undefined;
  covers(skill: string, server: string, tool: string): boolean;
  /** Reads a skill that is none of these, and says how it would stand. */
  tryOut(path: string): Promise<Skill & Negotiation>;
  /** What stands is to be looked at anew. */
  reconsider(): void;
  close(): void;
}

/** Needed only where there are skills, so it is loaded then. */
async function loadRoom() {
  const { covers, createBriefings, deriveCapabilities, negotiate, readSkill, readSkills, watchSkills } =
    await import('../negotiate/index.js');
  return { covers, createBriefings, deriveCapabilities, negotiate, readSkill, readSkills, watchSkills };
}

type Room = Awaited<ReturnType<typeof loadRoom>>;

/** Changes that come together are one. */
const SETTLE_MS = 25;

interface Loaded {
  readonly room: Room;
  readonly set: SkillSet;
}

/** Reads the skills, negotiates for them, and again whenever something changes. Nothing is loaded where there are none. */
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
  /** Derived capabilities by server, as long as its list is the same. */
  const derived = new Map<string, { list: unknown; tools: readonly Tool[]; capabilities: Map<string, string[]> }>();

  const offering = (room: Room): OfferingServer[] =>
    [...core.catalog.servers.values()].map((server) => {
      const list = core.catalog.list(server.id);
      const base = { id: server.id, declared: server.capabilities ?? [], probed: probed(server.id) };
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
    const sources = { catalog: core.catalog, learner: core.learner, pool, hide: core.hide };
    if (!server) return { off: 'it is not configured' };
    if (!isUsable(server)) return { off: problemOf(server, sources) ?? 'it cannot be used' };
    const { state, breaker, lastError } = pool.health(id);
    const failing =
      problemOf(server, sources) ?? (state === 'error' ? (lastError ?? 'it cannot be reached') : undefined);
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

  const tell = (): void => {
    if (!current || !briefings || closed) return;
    const states = now();
    briefings.retain(new Set(states.keys()));
    // What is being learned may be just what is missing; bad news waits for it.
    const isLearning = core.learner.learning().length > 0;
    for (const skill of current.set.skills) {
      const negotiation = states.get(skill.id);
      if (!negotiation || (isLearning && negotiation.state !== 'READY')) continue;
      const briefing = briefings.note(skill, negotiation);
      if (!briefing) continue;
      const { type, severity, content } = briefing;
      const say = severity === 'INFO' ? log.info : log.warn;
      say('skill.briefing', { skill: skill.id, type, summary: content.summary, detail: content.detail });
      core.events.emit({ type: 'briefing', briefing });
    }
  };
  const soon = (): void => {
    negotiated = undefined;
    if (closed || !current) return;
    timer ??= clock.after(SETTLE_MS, () => {
      timer = undefined;
      // A learner drops a server from its list only after it has told of it.
      tell();
    });
  };

  const take = (room: Room, set: SkillSet): void => {
    current = { room, set };
    briefings ??= room.createBriefings({ now: clock.now });
    for (const { path, message } of set.problems) log.warn('skill.unreadable', { path, reason: message });
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
    take(room, set);
    if (!core.deps.watchSkills) return;
    watching = room.watchSkills(directories, set.hash, { clock, log, onChange: (next) => take(room, next) });
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
        throw new ToolscoutError('SKILL_NOT_FOUND', `${path} cannot be read: ${messageOf(thrown)}`);
      });
      return { ...skill, ...room.negotiate(skill, offering(room), condition) };
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
