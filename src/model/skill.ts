import type { Problem } from '../kernel/errors.js';

/** How it is known that a server offers a capability; the earlier, the more it counts (NEG-1). */
export type CapabilityOrigin = 'declared' | 'probed' | 'derived';

/** A capability that a skill asks for, and the line on which it does. */
export interface CapabilityRequest {
  readonly name: string;
  readonly line: number;
}

/** What was read of a `skill.md` (NEG-2). */
export interface Skill {
  /** The name of its folder. */
  readonly id: string;
  /** The file. */
  readonly path: string;
  readonly title: string;
  readonly sections: ReadonlyArray<{ readonly title: string; readonly level: number; readonly line: number }>;
  readonly capabilities: readonly CapabilityRequest[];
  /** What is wrong with the file; a path is `line 12`. */
  readonly problems: readonly Problem[];
  /** SHA-256 of the file. */
  readonly hash: string;
}

/** How a skill stands: everything it needs is there, some of it, or nothing. */
export type SkillState = 'READY' | 'DEGRADED' | 'UNAVAILABLE';

/** A capability granted to a skill: who serves it, and with which tools (NEG-3). */
export interface Binding {
  /** What the skill asked for; a wildcard may be met by several bindings. */
  readonly request: string;
  readonly capability: string;
  readonly server: string;
  readonly origin: CapabilityOrigin;
  readonly healthy: boolean;
  /** `undefined` until the list of the server is known. */
  readonly tools: readonly string[] | undefined;
  /** Others that offer it, best first. */
  readonly alternatives: readonly string[];
}

/** A capability that a skill cannot use now. */
export interface MissingCapability {
  readonly capability: string;
  readonly reason: string;
  /** What to do about it. */
  readonly action: string;
}

/** What came of a negotiation. */
export interface Negotiation {
  readonly state: SkillState;
  readonly bindings: readonly Binding[];
  readonly missing: readonly MissingCapability[];
  /** Bound, but to a server that fails. */
  readonly impaired: readonly MissingCapability[];
}

/** Told when the state of a skill changes (NEG-4); its JSON Schema ships as `docs/schemas/agent-briefing-event.json`. */
export interface AgentBriefingEvent {
  readonly schema_version: '1.0';
  readonly event_id: string;
  /** The event before, about the same skill. */
  readonly parent_event_id: string | null;
  /** The same for everything about one skill, from its loading to its end. */
  readonly correlation_id: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly type: 'SKILL_READY' | 'SKILL_DEGRADED' | 'SKILL_UNAVAILABLE';
  readonly source_agent: 'toolscout';
  readonly skill_id: string;
  readonly severity: 'INFO' | 'WARNING' | 'SEVERE';
  readonly content: {
    readonly summary: string;
    readonly detail: string;
    /** What the skill must do without; `null` when it has everything. */
    readonly degradation_notice: string | null;
    readonly suggested_actions: readonly string[];
  };
  /** What the statement rests on. */
  readonly proof_layer: {
    readonly skill_hash: string;
    readonly previous_state: SkillState | null;
    readonly state: SkillState;
    readonly bindings: ReadonlyArray<{
      readonly capability: string;
      readonly server: string;
      readonly origin: CapabilityOrigin;
      readonly healthy: boolean;
    }>;
    readonly missing: ReadonlyArray<{ readonly capability: string; readonly reason: string }>;
  };
}
