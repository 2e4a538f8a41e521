import { newId } from '../kernel/ids.js';
import type { AgentBriefingEvent, Negotiation, Skill, SkillState } from '../model/skill.js';

/** What was last told about a skill. */
interface Told {
  readonly correlation: string;
  readonly event?: string;
  readonly state: SkillState;
  /** What the telling was about: equal for equal situations. */
  readonly key: string;
}

/** Announces each change of a skill once (NEG-4). */
export interface Briefings {
  /** The event about what has changed since the last time; nothing when nothing has. */
  note(skill: Skill, negotiation: Negotiation): AgentBriefingEvent | undefined;
  /** Forgets the skills that are no more. */
  retain(ids: ReadonlySet<string>): void;
}

const TYPES = { READY: 'SKILL_READY', DEGRADED: 'SKILL_DEGRADED', UNAVAILABLE: 'SKILL_UNAVAILABLE' } as const;
const SEVERITIES = { READY: 'INFO', DEGRADED: 'WARNING', UNAVAILABLE: 'SEVERE' } as const;

/** Actions suggested at once. */
const MAX_ACTIONS = 10;

function keyOf({ state, missing, impaired }: Negotiation): string {
  const names = [...missing, ...impaired].map(({ capability }) => capability).toSorted();
  return JSON.stringify([state, names]);
}

function contentOf(skill: Skill, { state, bindings, missing, impaired }: Negotiation): AgentBriefingEvent['content'] {
  const lacking = [...missing, ...impaired];
  const names = lacking.map(({ capability }) => capability).join(', ');
  const bound = bindings.map(({ capability, server }) => `${capability} → ${server}`);
  const reasons = lacking.map(({ capability, reason }) => `${capability}: ${reason}`);
  const summaries = {
    READY: `${skill.title} is ready: every capability it declares is available.`,
    DEGRADED: `${skill.title} is degraded: not available now: ${names}.`,
    UNAVAILABLE: `${skill.title} is unavailable: none of its capabilities can be used now (${names}).`,
  };
  return {
    summary: summaries[state],
    detail: [...reasons, ...bound].join('\n') || 'It declares no capabilities.',
    degradation_notice: lacking.length === 0 ? null : `Without: ${names}.`,
    suggested_actions: [...new Set(lacking.map(({ action }) => action))].slice(0, MAX_ACTIONS),
  };
}

/** Briefings about nothing yet. A skill that is ready from the beginning is no news. */
export function createBriefings({ now }: { readonly now: () => number }): Briefings {
  const told = new Map<string, Told>();
  return {
    note(skill, negotiation) {
      const before = told.get(skill.id);
      const key = keyOf(negotiation);
      const { state, bindings, missing, impaired } = negotiation;
      if (before?.key === key) return undefined;
      const correlation = before?.correlation ?? newId();
      if (!before && state === 'READY') {
        told.set(skill.id, { correlation, state, key });
        return undefined;
      }
      const event = newId();
      told.set(skill.id, { correlation, event, state, key });
      return {
        schema_version: '1.0',
        event_id: event,
        parent_event_id: before?.event ?? null,
        correlation_id: correlation,
        timestamp: new Date(now()).toISOString(),
        type: TYPES[state],
        source_agent: 'toolscout',
        skill_id: skill.id,
        severity: SEVERITIES[state],
        content: contentOf(skill, negotiation),
        proof_layer: {
          skill_hash: skill.hash,
          previous_state: before?.state ?? null,
          state,
          bindings: bindings.map(({ capability, server, origin, healthy }) => ({
            capability,
            server,
            origin,
            healthy,
          })),
          missing: [...missing, ...impaired].map(({ capability, reason }) => ({ capability, reason })),
        },
      };
    },
    retain(ids) {
      for (const id of told.keys()) if (!ids.has(id)) told.delete(id);
    },
  };
}
