import type { JsonObject } from '../../kernel/json.js';
import type { CallResult } from '../../model/call.js';
import type { AgentBriefingEvent, Negotiation, Skill } from '../../model/skill.js';
import type { CallOptions } from './options.js';

/** A skill and how it stands. */
export interface SkillView extends Skill, Negotiation {
  /** The last briefing about it; absent for a skill that was ready from the beginning. */
  readonly briefing?: AgentBriefingEvent;
}

/** What a skill gets instead of servers: it calls through it, and only what it declared (NEG-3, NEG-5). */
export interface SkillHandle {
  readonly id: string;
  /** How it stands now. */
  view(): SkillView;
  /** Runs a tool that serves a capability, on the server that is bound to it now. */
  call(capability: string, tool: string, args: JsonObject, options?: CallOptions): Promise<CallResult>;
  /** The server that such a call would go to now; nothing when it would be refused. */
  serverFor(capability: string, tool: string): string | undefined;
  /** Calls the listener for every change of this skill; call the returned function to stop. */
  onBriefing(listener: (event: AgentBriefingEvent) => void): () => void;
}
