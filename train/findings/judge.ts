import { findFindings } from '../../src/approvals/findings/findings.js';
import { FEATURE_COUNT } from '../../src/approvals/findings/windows.js';
import { Wording } from '../../src/approvals/findings/wording.js';
import type { Labelled } from './examples.js';
import type { Learned } from './learn.js';

/** A definition and whether it was held back by a model that had not seen it. */
export interface Verdict {
  readonly example: Labelled;
  readonly isHeld: boolean;
}

/** The whole detector with other weights, over definitions that these were not learned from. */
export function judge({ bias, weights }: Learned, examples: readonly Labelled[]): Verdict[] {
  const wording = new Wording({
    bias,
    concepts: Float32Array.from(weights.subarray(0, FEATURE_COUNT)),
    words: Float32Array.from(weights.subarray(FEATURE_COUNT)),
    step: 1,
  });
  return examples.map((example) => ({
    example,
    isHeld: findFindings(example.definition, wording).some(({ isHard }) => isHard),
  }));
}

/** How many of some definitions were held back, as `7 of 9 (78 %)`. */
export function shareHeld(verdicts: readonly Verdict[]): string {
  const held = verdicts.filter(({ isHeld }) => isHeld).length;
  return `${held} of ${verdicts.length} (${((100 * held) / Math.max(1, verdicts.length)).toFixed(1)} %)`;
}
