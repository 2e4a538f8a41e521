import { conceptNumber } from './lexicon.js';
import type { Reading } from './reading.js';
import { CONCEPTS, type Concept } from './concepts.js';

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
  /** Where the first and the last of its concepts stand in the text. */
  readonly from: number;
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
    const last: Array<Float64Array | undefined> = [];
    const offsets: Array<Float64Array | undefined> = [];
    const met: Met[] = [];
    const counts = new Uint8Array(rules.length);
    for (const { concept, at, isForeign, offset } of reading.mentions) {
      for (const [number, group] of members[concept]!) {
        const rule = rules[number]!;
        if (counts[number]! >= MAX_MET || (rule.isForeign && !isForeign) || (onlyJoined && !rule.joins)) continue;
        const seen = (last[number] ??= new Float64Array(rule.groups.length).fill(-Infinity));
        const places = (offsets[number] ??= new Float64Array(rule.groups.length));
        seen[group] = at;
        places[group] = offset;
        if (!isMet(seen, at, rule)) continue;
        counts[number] = counts[number]! + 1;
        met.push({ rule: number, from: Math.min(...places), at: offset });
        // The same words are not counted twice.
        seen.fill(-Infinity);
      }
    }
    return met;
  };
}

/** Whether all groups of a rule stand close enough, and in order where it has one. */
function isMet(seen: Float64Array, at: number, { within, isOrdered }: Rule): boolean {
  for (let group = 0; group < seen.length; group++) {
    if (at - seen[group]! >= within) return false;
    if (isOrdered && group > 0 && seen[group]! < seen[group - 1]!) return false;
  }
  return true;
}
