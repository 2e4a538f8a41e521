import type { Check, Sign } from './check.js';
import { activeContent } from './checks/active-content.js';
import { addresses } from './checks/addresses.js';
import { authority } from './checks/authority.js';
import { characters } from './checks/characters.js';
import { commands } from './checks/commands.js';
import { concealment } from './checks/concealment.js';
import { conversation } from './checks/conversation.js';
import { deception } from './checks/deception.js';
import { exfiltration } from './checks/exfiltration.js';
import { harvest } from './checks/harvest.js';
import { indirect } from './checks/indirect.js';
import { mismatch } from './checks/mismatch.js';
import { orders } from './checks/orders.js';
import { otherTools } from './checks/other-tools.js';
import { payments } from './checks/payments.js';
import { preference } from './checks/preference.js';
import { presets } from './checks/presets.js';
import { roleMarkup } from './checks/role-markup.js';
import { sabotage } from './checks/sabotage.js';
import { secrets } from './checks/secrets.js';
import { structure } from './checks/structure.js';
import type { Reading } from './reading.js';
import { createMatcher } from './rules.js';

/** Every check, in the order in which findings are named when they weigh the same. */
export const CHECKS: readonly Check[] = [
  orders,
  concealment,
  secrets,
  exfiltration,
  conversation,
  otherTools,
  preference,
  roleMarkup,
  commands,
  authority,
  deception,
  sabotage,
  payments,
  harvest,
  mismatch,
  activeContent,
  characters,
  addresses,
  indirect,
  structure,
  presets,
];

/** Places of one pattern that are noted. */
const MAX_PLACES = 8;

const RULES = CHECKS.flatMap((check) => (check.rules ?? []).map((rule) => ({ ...rule, check: check.name })));
const matchRules = createMatcher(RULES);
/** The patterns of each check; most are found nowhere, so that they are looked for before their places are. */
const PATTERNS = CHECKS.map(({ name, patterns, isShape = false, needs }) => ({
  check: name,
  isShape,
  needs,
  patterns: (patterns ?? []).map((each) => ({ ...each, pattern: new RegExp(each.pattern, `${each.pattern.flags}g`) })),
}));

/** A sign with its check and its place in the text. */
export interface Placed extends Sign {
  readonly check: string;
  readonly at: number;
  /** Where it begins, when that is known to be before. */
  readonly from?: number;
  /** It is a shape: what stands around it does not change what it means. */
  readonly isShape: boolean;
}

/** Which signs are looked for: shapes alone, or shapes and words. */
export interface Wanted {
  readonly words: boolean;
}

/** Signs in one text; of each rule and pattern the first places. */
export function signsIn(plain: string, reading: Reading, { words }: Wanted): Placed[] {
  const signs = words ? rulesIn(reading, false) : [];
  for (const { check, isShape, needs, patterns } of PATTERNS) {
    if ((!words && !isShape) || (needs && !needs.test(plain))) continue;
    for (const { pattern, reason, weight } of patterns) {
      if (plain.search(pattern) === -1) continue;
      let count = 0;
      for (const { index: at } of plain.matchAll(pattern)) {
        signs.push({ check, reason, weight, at, isShape });
        if (++count >= MAX_PLACES) break;
      }
    }
  }
  return signs;
}

/** What rules find in a text; in one that was put together from fields only those that hold there. */
export function rulesIn(reading: Reading, isJoined: boolean): Placed[] {
  return matchRules(reading, isJoined).map(({ rule, from, at }) => {
    const { check, reason, weight } = RULES[rule]!;
    return { check, reason, weight, from, at, isShape: false };
  });
}
