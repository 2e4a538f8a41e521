import type { SkillView, SkillHandle } from '../contract/skills.js';
import { forbidden } from '../../execute/index.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { nearestNames } from '../../kernel/text.js';
import type { CallResult } from '../../model/call.js';
import type { Binding, Negotiation, Skill } from '../../model/skill.js';
import type { Viewer } from '../../model/viewer.js';
import type { Core } from '../core.js';
import { createSkillStates } from '../skill-states.js';
import { logCall, type Bindings } from './call-verbs.js';
import { defineVerbs, type Verbs, type VerbTable } from './define-verbs.js';
import { skillViewer } from '../viewer.js';
import type { CallOptions } from '../contract/options.js';
import { isUsable } from '../../catalog/catalog.js';

/** The skills of a gateway. */
export interface Skills extends Bindings {
  verbs(
    execute: Verbs['call'],
  ): VerbTable<'skills.list' | 'skills.check' | 'skills.bind' | 'skills.get' | 'skills.viewer'>;
  close(): void;
}

/** The verbs of skills, and the handles through which they call. */
export function createSkills(core: Core): Skills {
  const states = createSkillStates(core);
  core.keeper.also(states.struggling);

  const find = (id: string): Skill => {
    const skills = states.skills();
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
    const briefing = states.briefing(skill.id);
    return { ...skill, ...(states.of(skill.id) ?? nothing), ...(briefing && { briefing }) };
  };
  const bindingsOf = (id: string): readonly Binding[] => states.of(id)?.bindings ?? [];

  /** A skill asked for what it has no binding for: nothing is sent, and it is recorded (NEG-5). */
  const refuse = (
    { principal, skill: asking }: Viewer,
    tool: string,
    wanted: string,
    args: JsonObject,
    options: CallOptions,
  ): CallResult => {
    const skill = asking!.id;
    const { code, message, remedy, suggestion, severity } = forbidden(skill, wanted);
    const { route = 'library', traceId } = options;
    const entry = {
      kind: 'execution',
      principal,
      route,
      skill,
      tool,
      outcome: 'refused',
      code,
      ...(traceId !== undefined && { traceId }),
    } as const;
    logCall(core.deps.log, 'call', entry);
    core.deps.audit.record({ ...entry, arguments: args, detail: { wanted } });
    return { success: false, error: { code, message, server: '', tool, remedy, suggestion, severity } };
  };

  const boundTo = (id: string, capability: string): Binding[] =>
    bindingsOf(id).filter((each) => each.request === capability || each.capability === capability);
  const serverFor = (id: string, capability: string, tool: string): string | undefined =>
    boundTo(id, capability).find(({ tools }) => tools === undefined || tools.includes(tool))?.server;

  const viewerFor = (caller: Viewer, id: string): Viewer =>
    skillViewer(caller, id, (server, tool) =>
      tool === undefined ? bindingsOf(id).some((each) => each.server === server) : states.covers(id, server, tool),
    );

  const handleOf = (viewer: Viewer, id: string, execute: Verbs['call']): SkillHandle => ({
    id,
    view: () => viewOf(find(id)),
    async call(capability, tool, args, options = {}) {
      const server = serverFor(id, capability, tool);
      if (server !== undefined) return execute(viewer, server, tool, args, options);
      const wanted = boundTo(id, capability).length === 0 ? capability : `${capability} with ${tool}`;
      return refuse(viewer, tool, wanted, args, options);
    },
    serverFor: (capability, tool) => serverFor(id, capability, tool),
    onBriefing: (listener) =>
      core.events.on((event) => {
        if (event.type === 'briefing' && event.briefing.skill_id === id) listener(event.briefing);
      }),
  });

  /** Learns the servers that a skill may need and that were not asked yet. */
  const learnUnknown = async (): Promise<void> => {
    const unknown = [...core.catalog.servers.values()].filter((each) => isUsable(each) && !core.catalog.list(each.id));
    const { maxParallelDiscoveries: parallel, lendSlots } = core.loaded.config;
    await core.learner.learnAll(unknown, { parallel, lendSlots: lendSlots !== false });
    states.reconsider();
  };

  return {
    loaded: states.loaded,
    has: (id) => states.skills().some((each) => each.id === id),
    require: (id) => void find(id),
    verbs: (execute) =>
      defineVerbs({
        async 'skills.list'({ skill }) {
          await states.loaded();
          if (skill) return [viewOf(find(skill.id))];
          await states.verify(states.all());
          return states.skills().map(viewOf);
        },
        async 'skills.check'(_viewer, idOrPath) {
          await states.loaded();
          const known = states.skills().find((each) => each.id === idOrPath);
          if (known) {
            const negotiation = states.of(known.id);
            if (negotiation) await states.verify([negotiation], { connect: true });
            return viewOf(known);
          }
          const isPath = /[\\/]|\.md$/i.test(idOrPath);
          if (!isPath) return viewOf(find(idOrPath));
          return states.tryOut(idOrPath);
        },
        async 'skills.bind'(_viewer, id) {
          await states.loaded();
          find(id);
          await learnUnknown();
          const negotiation = states.of(id);
          if (negotiation) await states.verify([negotiation], { connect: true });
          return viewOf(find(id));
        },
        async 'skills.get'(viewer, id) {
          await states.loaded();
          find(id);
          return handleOf(viewerFor(viewer, id), id, execute);
        },
        async 'skills.viewer'(viewer, id) {
          await states.loaded();
          return viewerFor(viewer, id);
        },
      }),
    close: states.close,
  };
}
