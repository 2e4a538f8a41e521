import * as z from 'zod';

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);

const Ruling = z.object({ by: text, reason: text.optional(), at: z.number() });

/** A request to trust something, or what was decided about it. */
export const Approval = z.object({
  ref: text,
  server: text,
  tool: text.optional(),
  about: z.enum(['launch', 'instructions', 'tool']),
  state: z.enum(['pending', 'approved', 'rejected', 'expired', 'superseded']),
  hash: text,
  pinned: text.optional(),
  requestedAt: z.number(),
  confirmedAt: z.number().optional().meta({
    description:
      'When what was trusted before was last known to be unchanged; it changed between then and `requestedAt`.',
  }),
  ruling: Ruling.optional(),
  was: z.enum(['approved', 'rejected', 'trusted']).optional().meta({
    description: 'What a superseded one was before: decided by a person, or trusted at first sight.',
  }),
  risk: z.object({
    level: z.enum(['low', 'medium', 'high', 'critical']),
    reasons: texts,
    informs: texts.optional().meta({ description: 'Those of the reasons that only inform: they hold nothing back.' }),
  }),
  changed: texts,
  origin: z.enum(['user', 'project', 'registry', 'introspected']),
  target: text,
});

/** A server as a caller proposes it: by `url`, or by `command` and `args`. */
export const ProposedServer = z.strictObject({
  id: text.min(1).max(500),
  url: text.max(8192).optional(),
  command: text.max(8192).optional(),
  args: z.array(text.max(8192)).max(1000).optional(),
  title: text.max(500).optional(),
});

/** What is introspected: a URL, or a registered server that is not approved yet. */
export const IntrospectionRequest = z.union([
  z.strictObject({ url: text.min(1).max(8192), id: text.min(1).max(500).optional() }),
  z.strictObject({ server: text.min(1).max(500) }),
]);

/** What a server that is not approved said it has; names only. */
export const Introspection = z.object({
  proposal: ProposedServer,
  protocolVersion: text,
  tools: texts,
  dropped: count,
  approval: Approval,
  review: z.object({ directory: text, files: texts }).optional(),
  problem: text.optional(),
});

/** What waits for approval, was decided or expired. */
export const ApprovalList = z.object({ approvals: z.array(Approval) });

/** What requests would change. */
export const ApprovalDiffs = z.object({
  diffs: z.array(
    z.object({
      approval: Approval,
      changes: z.array(z.object({ path: text, before: text.optional(), after: text.optional() })),
      evidence: z
        .array(z.object({ reason: text, path: text.optional(), text: text.optional() }))
        .optional()
        .meta({ description: 'Reasons of the risk with the field (a JSON pointer) and the words that show them.' }),
      note: text.optional(),
      calls: z
        .object({ since: z.number(), until: z.number(), count, isMore: z.literal(true).optional() })
        .optional()
        .meta({
          description:
            'Calls that were sent between the last time that it was known to be unchanged and the moment at which the change was noticed.',
        }),
    }),
  ),
});

/** A decision: why, about how much, and about exactly what. */
export const RulingRequest = z.strictObject({
  reason: text.max(500).optional(),
  all: z.boolean().optional(),
  includeCritical: z.boolean().optional(),
  hash: text
    .regex(/^[0-9a-fA-F]{12,64}$/)
    .optional()
    .meta({ description: 'The hash that was looked at, or at least its first 12 characters.' }),
});

/** What became of a decision. */
export const RulingReport = z.object({
  approvals: z.array(Approval),
  skipped: z.array(z.object({ ref: text, hash: text, reason: z.enum(['critical', 'changed', 'not-shown']) })),
  promoted: texts,
  registered: count,
});
