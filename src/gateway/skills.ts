import { forbidden } from '../execute/index.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import { nearestNames } from '../kernel/text.js';
import type { CallResult } from '../model/call.js';
import type { AgentBriefingEvent, Binding, Negotiation, Skill } from '../model/skill.js';
import type { Tool } from '../model/tool.js';
import type { OfferingServer, ServerCondition, SkillSet } from '../negotiate/index.js';
import type { Core } from './core.js';
import type { Bindings } from './executing.js';
import type { CallOptions, Gateway } from './verbs.js';
import { isUsable, problemOf } from './views.js';

/** A skill and how it stands. */
export interface SkillView extends Skill, Negotiation {}

/** What a skill gets instead of servers: it calls through it, and only what it declared (NEG-3, NEG-5). */
export interface SkillHandle {
  readonly id: string;
  /** How it stands now. */
  view(): SkillView;
  /** Runs a tool that serves a capability, on the server that is bound to it now. */
  call(capability: string, tool: string, args: JsonObject, options?: CallOptions): Promise<CallResult>;
  /** The server that such a call would go to now; nothing when it would be refused. */
  serverFor(capability: string, tool: string): string | undefined;
  /** Whether a tool may be called. */
  allows(server: string, tool: string): boolean;
  /** The servers it is bound to. */
  servers(): ReadonlySet<string>;
  /** Hears what changes for this skill; the answer ends it. */
  onBriefing(listener: (event: AgentBriefingEvent) => void): () => void;
}

/** The skills of a gateway. */
export interface Skills extends Bindings {
  verbs(execute: Gateway['executeTool']): Pick<Gateway, 'listSkills' | 'checkSkill' | 'bindSkill' | 'skill'>;
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
export function createSkills(core: Core): Skills {
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

  const find = (id: string): Skill => {
    const skills = current?.set.skills ?? [];
    const skill = skills.find((each) => each.id === id);
    if (skill) return skill;
    const [nearest] = nearestNames(
      id,
      skills.map((each) => each.id),
      1,
    );
    const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
    throw new ToolscoutError('SKILL_NOT_FOUND', `There is no skill "${id}".${hint}`);
  };
  const viewOf = (skill: Skill): SkillView => {
    const nothing: Negotiation = { state: 'UNAVAILABLE', bindings: [], missing: [], impaired: [] };
    return { ...skill, ...(now().get(skill.id) ?? nothing) };
  };
  const bindingsOf = (id: string): readonly Binding[] => now().get(id)?.bindings ?? [];

  const covers: Bindings['covers'] = (skill, server, tool) => {
    const negotiation = now().get(skill);
    return negotiation !== undefined && current !== undefined && current.room.covers(negotiation, server, tool);
  };

  /** A skill asked for what it has no binding for: nothing is sent, and it is recorded (NEG-5). */
  const refuse = (skill: string, tool: string, wanted: string, args: JsonObject, options: CallOptions): CallResult => {
    const { code, message, suggestion, severity } = forbidden(skill, wanted);
    const { principal = 'local', route = 'library', traceId } = options;
    core.deps.audit.record({
      kind: 'execution',
      principal,
      route,
      skill,
      tool,
      arguments: args,
      outcome: 'refused',
      code,
      ...(traceId !== undefined && { traceId }),
      detail: { wanted },
    });
    return { success: false, error: { code, message, server: '', tool, suggestion, severity } };
  };

  const boundTo = (id: string, capability: string): Binding[] =>
    bindingsOf(id).filter((each) => each.request === capability || each.capability === capability);
  const serverFor = (id: string, capability: string, tool: string): string | undefined =>
    boundTo(id, capability).find(({ tools }) => tools === undefined || tools.includes(tool))?.server;

  const handleOf = (id: string, execute: Gateway['executeTool']): SkillHandle => ({
    id,
    view: () => viewOf(find(id)),
    async call(capability, tool, args, options = {}) {
      const server = serverFor(id, capability, tool);
      if (server !== undefined) return execute(server, tool, args, { ...options, skill: id });
      const wanted = boundTo(id, capability).length === 0 ? capability : `${capability} with ${tool}`;
      return refuse(id, tool, wanted, args, options);
    },
    serverFor: (capability, tool) => serverFor(id, capability, tool),
    allows: (server, tool) => covers(id, server, tool),
    servers: () => new Set(bindingsOf(id).map(({ server }) => server)),
    onBriefing: (listener) =>
      core.events.on((event) => {
        if (event.type === 'briefing' && event.briefing.skill_id === id) listener(event.briefing);
      }),
  });

  /** Learns the servers that a skill may need and that nobody has asked yet. */
  const learnUnknown = async (): Promise<void> => {
    const unknown = [...core.catalog.servers.values()].filter((each) => isUsable(each) && !core.catalog.list(each.id));
    await core.learner.learnAll(unknown, { parallel: core.loaded.config.maxParallelDiscoveries });
    negotiated = undefined;
  };

  return {
    loaded,
    covers,
    verbs: (execute) => ({
      async listSkills() {
        await loaded();
        return (current?.set.skills ?? []).map(viewOf);
      },
      async checkSkill(idOrPath) {
        await loaded();
        const known = current?.set.skills.find((each) => each.id === idOrPath);
        if (known) return viewOf(known);
        const isPath = /[\\/]|\.md$/i.test(idOrPath);
        if (!isPath) return viewOf(find(idOrPath));
        const room = await loadRoom();
        const skill = await room.readSkill(idOrPath).catch((thrown: unknown) => {
          throw new ToolscoutError('SKILL_NOT_FOUND', `${idOrPath} cannot be read: ${messageOf(thrown)}`);
        });
        return { ...skill, ...room.negotiate(skill, offering(room), condition) };
      },
      async bindSkill(id) {
        await loaded();
        find(id);
        await learnUnknown();
        return viewOf(find(id));
      },
      async skill(id) {
        await loaded();
        find(id);
        return handleOf(id, execute);
      },
    }),
    close() {
      closed = true;
      begin?.cancel();
      timer?.cancel();
      watching?.close();
      forget();
    },
  };
}
