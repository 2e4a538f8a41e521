import * as z from 'zod';
import { AnyObject } from './any-object.js';

const text = z.string();
const name = text.min(1).max(500);

const Missing = z.object({ capability: text, reason: text, action: text });

/** What a skill was granted, and what it must do without. */
export const SkillBindings = z.object({
  id: text,
  state: z.enum(['READY', 'DEGRADED', 'UNAVAILABLE']),
  bindings: z.array(
    z.object({
      request: text,
      capability: text,
      server: text,
      origin: z.enum(['declared', 'probed', 'derived']),
      healthy: z.boolean(),
      tools: z.array(text).optional(),
      alternatives: z.array(text),
    }),
  ),
  missing: z.array(Missing),
  impaired: z.array(Missing),
});

/** The skills, and how each stands. */
export const SkillList = z.object({
  skills: z.array(
    SkillBindings.extend({
      title: text,
      capabilities: z.array(z.object({ name: text, line: z.int() })),
      problems: z.array(z.object({ path: text, message: text })),
      briefing: AnyObject.optional().meta({ description: 'The last AgentBriefingEvent about the skill.' }),
    }),
  ),
});

/** A call on behalf of a skill. */
export const SkillCall = z.strictObject({
  capability: name,
  tool: name,
  arguments: AnyObject.default({}),
});
