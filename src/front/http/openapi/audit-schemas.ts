import * as z from 'zod';
import { AUDIT_OUTCOMES } from '../../../model/audit-record.js';
import { AUDIT_DAMAGES } from '../../../model/audit-chain.js';
import { TokenCount } from './stats-schema.js';

const count = z.int().min(0);
const text = z.string();

/** One record of the audit log. */
export const AuditRecord = z.object({
  id: text,
  time: z.number(),
  kind: text,
  principal: text,
  route: text.optional(),
  host: text.meta({ description: 'What the host calls itself that made the call over MCP.' }).optional(),
  skill: text.optional(),
  server: text.optional(),
  tool: text.optional(),
  arguments: z.unknown().optional(),
  argumentsHash: text.optional(),
  // A newer version that shares the store may record another one.
  outcome: z.enum(AUDIT_OUTCOMES).catch('failure'),
  code: text.optional(),
  message: text
    .meta({ description: 'What the caller was told of a failure or a refusal; redacted, at most 500 characters.' })
    .optional(),
  latencyMs: z.number().optional(),
  waitedMs: z.number().meta({ description: 'How long it waited for the rate limit; part of latencyMs.' }).optional(),
  connectMs: z
    .number()
    .meta({ description: 'How long it waited until its server was started or reached; part of latencyMs.' })
    .optional(),
  askedMs: z
    .number()
    .meta({ description: 'How long a person or a host was asked something; part of latencyMs.' })
    .optional(),
  resultBytes: z.number().optional(),
  tokens: TokenCount.optional(),
  era: z.enum(['legacy', 'modern']).optional().catch(undefined),
  traceId: text.optional(),
  parent: text.optional(),
  detail: z.unknown().optional(),
});

/** Records of the audit log, newest first. */
export const AuditPage = z.object({ records: z.array(AuditRecord) });

/** What a verification of the audit log found. */
export const AuditVerification = z.object({
  ok: z.boolean(),
  records: count.meta({ description: 'Records that are there and proved by a block.' }),
  blocks: count,
  forgotten: count.meta({ description: 'Records that retention has removed.' }),
  unchained: z.object({
    records: count.meta({
      description:
        'Records that the hash chain does not protect, from before the log was chained or between its blocks.',
    }),
    until: z.number().optional().meta({ description: 'Milliseconds since 1970: the newest of them.' }),
  }),
  heads: z.array(z.object({ chain: text, number: count, hash: text })),
  problem: z
    .object({
      damage: z.enum(AUDIT_DAMAGES),
      id: text.optional(),
      time: z.number().optional(),
      block: z.object({ chain: text, number: count }).optional(),
      detail: text,
    })
    .optional()
    .meta({ description: 'The first change that was made to the log after it was written.' }),
});

/** A portion of the audit log as lines. */
export const AuditPortion = z.object({
  lines: z.array(text),
  position: count.meta({ description: 'Where the next portion begins.' }),
  done: z.boolean().meta({ description: 'Whether the end of the log was reached.' }),
});
