import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { TARGETS } from './targets.js';
import { REQUIREMENTS } from './suite.js';

const Entry = z.strictObject({
  /** `scenario`, or `scenario:check-id` for one check of it. */
  entry: z.string().regex(/^[a-z0-9/-]+(:[\w$-]+)?$/),
  targets: z.array(z.enum(TARGETS)).min(1),
  requirements: z.array(z.enum(REQUIREMENTS)).min(1),
  /** Why it cannot pass; an excuse without one is refused. */
  reason: z.string().trim().min(20),
});

/** One failure that is expected, where, and why. */
export type ExpectedFailure = z.infer<typeof Entry>;

/** Reads the file of expected failures: a YAML list, a reason with every entry. */
export async function readExpectedFailures(path: string): Promise<ExpectedFailure[]> {
  const parsed: unknown = parse(await readFile(path, 'utf8'));
  const result = z.array(Entry).safeParse(parsed ?? []);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path: at, message }) => `  ${at.join('.')}: ${message}`);
  throw new Error([`${path} is not a list of expected failures:`, ...problems].join('\n'));
}

/** The entries of one run as the suite takes them; `undefined` when there are none. */
export function toBaseline(
  expected: readonly ExpectedFailure[],
  run: {
    readonly target: ExpectedFailure['targets'][number];
    readonly requirement: ExpectedFailure['requirements'][number];
  },
): string | undefined {
  const entries = expected
    .filter(({ targets, requirements }) => targets.includes(run.target) && requirements.includes(run.requirement))
    .map(({ entry }) => entry);
  return entries.length > 0 ? stringify({ [run.target === 'client' ? 'client' : 'server']: entries }) : undefined;
}
