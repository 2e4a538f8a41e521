import { forbidden } from '../execute/index.js';
import { addressOf } from '../kernel/ids.js';
import type { SkillHandle } from './contract/skills.js';
import type { Gateway } from './contract.js';
import { explainOutOfScope } from './reports/why.js';

/** Verbs that say and change nothing a skill could misuse. */
const PASSED: ReadonlySet<keyof Gateway> = new Set([
  'ready',
  'settle',
  'config',
  'lineage',
  'close',
  'tellServers',
  'setLogLevel',
  'releaseHost',
]);

/**
 * The gateway as one skill may see it: search, lists, details and calls reach what its bindings cover and nothing else
 * (NEG-5). A verb that is not named here is refused, so that a new one is no way round.
 */
export function scopeToSkill(gateway: Gateway, skill: SkillHandle): Gateway {
  const isBound = (server: string): boolean => skill.servers().has(server);
  const refuse = (wanted: string): never => {
    throw forbidden(skill.id, wanted);
  };
  const demandServer = (server: string): void => {
    if (!isBound(server)) refuse(server);
  };
  /** Bound servers may have to be learned before it is known which of their tools serve. */
  const demandTool = async (server: string, tool: string): Promise<void> => {
    demandServer(server);
    if (skill.allows(server, tool)) return;
    await gateway.listTools(server);
    if (!skill.allows(server, tool)) refuse(addressOf(server, tool));
  };

  const scoped: Partial<Gateway> = {
    coverage: () => gateway.coverage(skill.servers()),

    async listServers(options) {
      const views = await gateway.listServers(options);
      // Of what is known: whoever asks which servers there are starts none (CONN-2).
      const serving = (await gateway.offeredTools()).filter(({ server, name }) => skill.allows(server, name));
      const counts = new Map<string, number>();
      for (const { server } of serving) counts.set(server, (counts.get(server) ?? 0) + 1);
      return views
        .filter(({ id }) => isBound(id))
        .map((view) => ({ ...view, tools: counts.get(view.id) ?? 0, disabledTools: 0 }));
    },

    async searchTools(query, options = {}) {
      if (options.server !== undefined) demandServer(options.server);
      const answer = await gateway.searchTools(query, {
        ...options,
        // How many servers there are besides the bound ones is none of a skill's business.
        onLearning: options.server === undefined ? undefined : options.onLearning,
        includeDisabled: false,
        accepts: (server, tool) => skill.allows(server, tool),
      });
      return {
        hits: answer.hits,
        nearest: answer.nearest,
        learning: answer.learning.filter(isBound),
        unavailable: answer.unavailable.filter(({ server }) => isBound(server)),
      };
    },

    async listTools(server, options) {
      demandServer(server);
      // What is disabled is none of a skill's business.
      const tools = await gateway.listTools(server, {
        meta: options?.meta,
        traceId: options?.traceId,
        onLearning: options?.onLearning,
      });
      return tools.filter(({ name }) => skill.allows(server, name));
    },

    offeredTools: async () => (await gateway.offeredTools()).filter(({ server, name }) => skill.allows(server, name)),

    definitionOf: (server, tool) => (skill.allows(server, tool) ? gateway.definitionOf(server, tool) : undefined),

    async toolDetails(server, tool, options) {
      await demandTool(server, tool);
      return gateway.toolDetails(server, tool, options);
    },

    async toolSignature(server, tool) {
      await demandTool(server, tool);
      return gateway.toolSignature(server, tool);
    },

    async why(server, tool) {
      const why = isBound(server) ? await gateway.why(server, tool) : undefined;
      // Which tools of a bound server serve is not known before its list is.
      if (why && (skill.allows(server, tool) || why.because === 'connection')) return why;
      // The same words for all that is not bound, be it there or not.
      const reason = `"${addressOf(server, tool)}" is not for skill "${skill.id}": none of its bindings covers it.`;
      return explainOutOfScope(server, tool, reason);
    },

    // The check at the door decides about these, and records what it refuses.
    executeTool: (server, tool, args, options) =>
      gateway.executeTool(server, tool, args, { ...options, skill: skill.id }),
    executeStream: (server, tool, args, options) =>
      gateway.executeStream(server, tool, args, { ...options, skill: skill.id }),

    /** A skill declares tools; resources and prompts are not among them. */
    async serverFacts(server) {
      demandServer(server);
      const { info, instructions, era } = await gateway.serverFacts(server);
      return { info, instructions, era };
    },
    knownFacts: async () => new Map(),

    listSkills: async () => [skill.view()],

    onEvent: (listener) =>
      gateway.onEvent((event) => {
        // Which other skills there are is not for this one to know.
        if (event.type === 'skills') return;
        if (
          event.type === 'briefing'
            ? event.briefing.skill_id === skill.id
            : !('server' in event) || isBound(event.server)
        ) {
          listener(event);
        }
      }),
  };

  return new Proxy(gateway, {
    get(target, name: keyof Gateway) {
      const own = scoped[name];
      if (own !== undefined) return own;
      const verb: unknown = target[name];
      return typeof verb !== 'function' || PASSED.has(name) ? verb : () => refuse(name);
    },
  });
}
