import { conceptNumber, type Reading } from './reading.js';
import { CONCEPTS, type Concept } from './words/concepts.js';

/** Concepts that mean something when they stand close together. */
export interface Rule {
  readonly reason: string;
  /** 1 is a hint, 4 is enough to hold something back. */
  readonly weight: number;
  /** One concept of each group must be there. */
  readonly groups: ReadonlyArray<readonly Concept[]>;
  /** Words from the first to the last of them. */
  readonly within: number;
  /** The groups follow each other. */
  readonly isOrdered?: boolean;
  /** Holds in languages other than English only, in which few tools are described. */
  readonly isForeign?: boolean;
  /** Holds for a sentence that is split over fields as well. */
  readonly joins?: boolean;
}

/** `near('ignore prior|your rule', …)`: groups separated by spaces, alternatives by `|`. */
export function near(
  groups: string,
  within: number,
  weight: number,
  reason: string,
  options: Partial<Rule> = {},
): Rule {
  return {
    ...options,
    groups: groups.split(' ').map((group) => group.split('|') as Concept[]),
    within,
    weight,
    reason,
  };
}

/** Places of one rule that are noted. */
const MAX_MET = 8;

/** A rule that was met. */
export interface Met {
  readonly rule: number;
  /** Where the last of its concepts stands in the text. */
  readonly at: number;
}

/** Rules, ready to be looked for in one pass over a text. */
export function createMatcher(rules: readonly Rule[]): (reading: Reading, onlyJoined: boolean) => Met[] {
  const groups = rules.map((rule) => rule.groups.map((group) => new Set(group.map(conceptNumber))));
  /** Which rules and groups each concept belongs to. */
  const members: Array<Array<readonly [rule: number, group: number]>> = CONCEPTS.map(() => []);
  for (const [rule, sets] of groups.entries()) {
    for (const [group, set] of sets.entries()) for (const concept of set) members[concept]!.push([rule, group]);
  }
  return (reading, onlyJoined) => {
    if (reading.mentions.length === 0) return [];
    const last: Array<number[] | undefined> = [];
    const met: Met[] = [];
    const counts: number[] = [];
    for (const { concept, at, isForeign, offset } of reading.mentions) {
      for (const [number, group] of members[concept]!) {
        const rule = rules[number]!;
        if ((counts[number] ?? 0) >= MAX_MET || (rule.isForeign && !isForeign) || (onlyJoined && !rule.joins)) continue;
        const seen = (last[number] ??= rule.groups.map(() => -Infinity));
        seen[group] = at;
        if (at - Math.min(...seen) >= rule.within) continue;
        if (rule.isOrdered && !seen.every((place, index) => index === 0 || place >= seen[index - 1]!)) continue;
        counts[number] = (counts[number] ?? 0) + 1;
        met.push({ rule: number, at: offset });
        // The same words are not counted twice.
        seen.fill(-Infinity);
      }
    }
    return met;
  };
}
