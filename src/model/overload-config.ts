import * as z from 'zod';

const OverloadLimits = z.strictObject({
  /** Calls that run at once; further ones wait. */
  maxCalls: z.int().positive().max(1_000_000).default(5000),
  /** How long a call waits for its turn before it is refused. */
  maxWaitMs: z.int().min(0).max(60_000).default(1000),
  /** By how much the event loop may be late, for three tenths of a second in a row. */
  maxDelayMs: z.int().min(1).max(60_000).default(1000),
  /** The share of the memory from which on new calls are refused. */
  maxHeapShare: z.number().min(0.01).max(1).default(0.95),
});

/** When new calls are refused because this process has too much to do (R12). `false`: never. */
export const OverloadConfig = z.union([z.literal(false), OverloadLimits]);
/** See the schema of the same name. */
export type OverloadConfig = z.infer<typeof OverloadConfig>;
