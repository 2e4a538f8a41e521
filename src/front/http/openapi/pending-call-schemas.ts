import * as z from 'zod';

const text = z.string();

/** A call that waits for confirmation, or the decision about it. */
export const PendingCall = z.object({
  id: text,
  server: text,
  tool: text,
  destructive: z.literal(true).optional().describe('The tool says that it may delete or overwrite something.'),
  arguments: z.unknown().meta({ description: 'Redacted, as in the audit log.' }),
  argumentsHash: text,
  principal: text,
  host: text.optional().describe('What the host calls itself that made the call over MCP; nothing proves it.'),
  skill: text.optional(),
  route: text,
  rule: text,
  scope: z
    .enum(['call', 'tool'])
    .describe('What a yes covers: this call, or every call of the tool by this caller for 30 days.'),
  state: z.enum(['waiting', 'approved', 'rejected', 'used', 'expired']),
  was: z.enum(['approved', 'rejected']).optional().describe('What was decided about it before it expired.'),
  requestedAt: z.number(),
  expiresAt: z.number(),
  ruling: z
    .object({ by: text, reason: text.optional(), at: z.number(), via: z.enum(['operator', 'webhook']) })
    .optional(),
});

/** Calls that wait, were decided or expired. */
export const PendingCallList = z.object({ calls: z.array(PendingCall) });

/** Why a call is allowed or not. */
export const CallRuling = z.strictObject({ reason: text.max(500).optional() });
