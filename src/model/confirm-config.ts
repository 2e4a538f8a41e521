import * as z from 'zod';

const text = z.string();
const DAY_MS = 86_400_000;

/**
 * When calls of the tools that a rule names need a confirmation (SEC-11): always, for the first call of each caller, or
 * where a JMESPath expression on the arguments selects something true. `false` lets them pass whatever later rules say.
 */
export const ConfirmRuleConfig = z.union([
  z.boolean(),
  z.literal('once'),
  z.strictObject({ when: text.min(1).max(4096) }),
]);
/** See the schema of the same name. */
export type ConfirmRuleConfig = z.infer<typeof ConfirmRuleConfig>;

/** How a person is asked about calls that need a confirmation (SEC-11). */
export const ConfirmConfig = z
  .strictObject({
    /** Whether a host that can ask its user is asked; where hosts are not trusted with that, `false`. */
    elicit: z.boolean().default(true),
    /** How long a call waits for an answer, and a confirmation for its call. */
    pendingMs: z
      .int()
      .min(1000)
      .max(7 * DAY_MS)
      .default(900_000),
    /** An address that is asked instead of the host. */
    webhook: z.url({ protocol: /^https?$/ }).optional(),
    /**
     * The secret that requests to the webhook and its answers are signed with; a variable, so that it never stands in a
     * file.
     */
    secret: text.regex(/^\$\{[^}]+\}$/, 'expected a variable such as ${CONFIRM_SECRET}').optional(),
    /** How long the webhook may take to answer. */
    timeoutMs: z.int().min(100).max(600_000).default(30_000),
  })
  .refine(({ webhook, secret }) => (webhook === undefined) === (secret === undefined), {
    error: 'expected webhook and secret together',
  });
/** See the schema of the same name. */
export type ConfirmConfig = z.infer<typeof ConfirmConfig>;
