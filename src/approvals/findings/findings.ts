import type { JsonObject } from '../../kernel/json.js';
import { HARD, type Check, type Sign, type Subject } from './check.js';
import { addresses } from './checks/addresses.js';
import { activeContent } from './checks/active-content.js';
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
import { preference } from './checks/preference.js';
import { roleMarkup } from './checks/role-markup.js';
import { secrets } from './checks/secrets.js';
import { payloadsOf } from './decode.js';
import { fold, splitCamel, unescapeText } from './fold.js';
import { readText, type Reading } from './reading.js';
import { createMatcher } from './rules.js';
import { joinLetters, unspace } from './spacing.js';
import { textsOf, type Piece } from './texts.js';

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
  harvest,
  mismatch,
  activeContent,
  characters,
  addresses,
  indirect,
];

/** What was found in one definition. */
export interface Finding {
  /** The check that found it. */
  readonly check: string;
  /** One phrase that follows "it": `tells a model to ignore its instructions`. */
  readonly reason: string;
  /** Enough to hold the definition back, by itself or together with the other findings. */
  readonly isHard: boolean;
  /** JSON pointer of the text; absent when the definition as a whole shows it. */
  readonly path?: string;
}

/** Pieces longer than this are sentences of their own and no part of a split one. */
const MAX_FRAGMENT = 90;
/** Words of a sentence that is put together from fragments. */
const MAX_JOINED = 8000;

/** Stands between two texts, so that words of one and words of its neighbour give no order together. */
const BETWEEN = '\n\u0004\n';
/** Places of one pattern or rule that are noted. */
const MAX_PLACES = 8;
/** So many words of mixed letters are no accident. */
const MANY_MIXED = 3;
/** So many different things that orders speak of, in one hidden text, are an order. */
const ABOUT_MODELS = 5;

/** Sentences that only exist when the spaces between their letters, or the limits of fields, are taken away. */
const SQUEEZED =
  /(?:ignore|disregard|forget)(?:all|any|every)?(?:of)?(?:the|your|my|these|those)?(?:previous|prior|earlier|above|preceding|system|old)?(?:the|your)?(?:instructions|rules|guidelines|directives)|override(?:all|the)?(?:your|previous|prior|system)(?:instructions|rules|guidelines|policy)|(?:donot|never|dont)(?:tell|inform|mentionthisto|mentionitto)(?:the|this|your)(?:user|human|person)|(?:send|upload|forward|leak|steal)(?:me|us)?(?:the|all|your|every|my|their)(?:passwords?|tokens?|secrets?|sshkeys?|privatekeys?|apikeys?|credentials|conversation|keysto)|(?:keepthissecret|hidethis|concealthis)from|youmustobey/;

const RULES = CHECKS.flatMap((check) => (check.rules ?? []).map((rule) => ({ ...rule, check: check.name })));
const matchRules = createMatcher(RULES);
const PATTERNS = CHECKS.flatMap((check) =>
  (check.patterns ?? []).map((each) => ({
    ...each,
    pattern: new RegExp(each.pattern, `${each.pattern.flags}g`),
    check: check.name,
  })),
);

interface Weighed extends Sign {
  readonly check: string;
  readonly path?: string;
  /** Its place in all texts joined. */
  readonly at?: number;
}

/** A sign with its place. */
type Placed = Weighed & { readonly at: number };

/** Signs in one text; of each rule and pattern the first places. */
function signsIn(plain: string, reading: Reading, onlyJoined = false): Placed[] {
  const signs: Placed[] = matchRules(reading, onlyJoined).map(({ rule, at }) => {
    const { check, reason, weight } = RULES[rule]!;
    return { check, reason, weight, at };
  });
  if (onlyJoined) return signs;
  for (const { pattern, check, reason, weight } of PATTERNS) {
    // Most patterns are found nowhere; asking for all places of each would cost a copy of it.
    if (plain.search(pattern) === -1) continue;
    let count = 0;
    for (const { index } of plain.matchAll(pattern)) {
      signs.push({ check, reason, weight, at: index });
      if (++count >= MAX_PLACES) break;
    }
  }
  return signs;
}

const plainOf = (text: string): string => fold(splitCamel(unescapeText(text)));

/** Signs of what stood encoded: an order that was hidden is one that was meant. */
function findInPayloads(raw: string): Placed[] {
  const payloads = payloadsOf(raw);
  return payloads.map(({ encoding, text, at, isNested }) => {
    const plain = plainOf(text);
    const reading = readText(plain);
    const isOrder =
      isNested ||
      signsIn(plain, reading).length > 0 ||
      new Set(reading.mentions.map(({ concept }) => concept)).size >= ABOUT_MODELS;
    return {
      check: 'payloads',
      reason: isOrder ? `hides an order (${encoding})` : `contains encoded text (${encoding})`,
      weight: isOrder ? HARD : 2,
      at,
    };
  });
}

/** Many lines of one word each. */
const ONE_WORD_LINES = /(?:^|[\n ])(?:[^\s]{1,24}\n){6,200}[^\s]{1,24}/;

/** Signs of a sentence that was written down the page. */
function findUpright(plain: string): Weighed[] {
  const lines = ONE_WORD_LINES.exec(plain)?.[0];
  if (lines === undefined) return [];
  const flat = lines.replaceAll('\n', ' ');
  const isOrder = signsIn(flat, readText(flat)).length > 0;
  return isOrder ? [{ check: 'payloads', reason: 'is written with its words apart', weight: HARD }] : [];
}

/** Signs of text whose letters were pulled apart or pushed together. */
function findSpaced(plain: string): Weighed[] {
  const narrow = unspace(plain);
  const squeezed = SQUEEZED.test(joinLetters(plain));
  if (narrow !== undefined) {
    const isOrder = squeezed || signsIn(narrow, readText(narrow)).length > signsIn(plain, readText(plain)).length;
    return [{ check: 'payloads', reason: 'is written with its letters apart', weight: isOrder ? HARD : 2 }];
  }
  return squeezed ? [{ check: 'payloads', reason: 'contains an order in disguise', weight: 3 }] : [];
}

/** Signs of a sentence that begins in one field and ends in another. */
function findJoined(plains: readonly string[]): Weighed[] {
  const fragments = plains.filter((plain) => plain.length <= MAX_FRAGMENT);
  if (fragments.length < 2) return [];
  const joined = fragments
    .join(' ')
    .slice(0, MAX_JOINED)
    .replace(/[.:;!?\n[\]0-9"]+/g, ' ');
  const signs = signsIn(joined, readText(joined), true).map(({ reason, weight }) => ({
    check: 'split',
    reason,
    weight,
  }));
  if (SQUEEZED.test(joinLetters(joined))) {
    signs.push({ check: 'split', reason: 'spreads an order over several fields', weight: HARD });
  }
  return signs;
}

/** The pieces of a joined text, found by where something stands in it. */
function locate(pieces: readonly Piece[], texts: readonly string[], gap: number, at: number): { path?: string } {
  let start = 0;
  for (const [index, each] of texts.entries()) {
    start += each.length + gap;
    if (at < start) return { path: pieces[index]!.path };
  }
  return {};
}

/** Runs every check. */
function weighAll(definition: JsonObject): Weighed[] {
  const { pieces, isCut } = textsOf(definition);
  const raws = pieces.map(({ text }) => text);
  const plains = raws.map(plainOf);
  const [raw, plain] = [raws.join('\n'), plains.join(BETWEEN)];
  const reading = readText(plain);
  const signs: Weighed[] = [];
  for (const sign of signsIn(plain, reading)) {
    signs.push({ ...sign, ...locate(pieces, plains, BETWEEN.length, sign.at) });
  }
  for (const { at, ...sign } of findInPayloads(raw)) signs.push({ ...sign, ...locate(pieces, raws, 1, at) });
  signs.push(...findSpaced(plain), ...findJoined(plains));
  for (const each of plains) signs.push(...findUpright(each));
  if (reading.mixed > 1) {
    // No honest text has several words made of the letters of two scripts.
    const weight = reading.mixed > MANY_MIXED ? HARD : 3;
    signs.push({ check: 'characters', reason: 'is written in letters that pass for others', weight });
  }
  const subject: Subject = { definition, pieces, raw, plain };
  for (const check of CHECKS) {
    for (const sign of check.find?.(subject) ?? []) signs.push({ ...sign, check: check.name });
  }
  if (isCut) signs.push({ check: 'size', reason: 'is too long to be read whole', weight: HARD });
  return signs;
}

/** Signs that stand so close in one text are signs of the same thing. */
const TOGETHER = 500;

/** The heaviest that signs weigh together: those of one place, and those of the definition as a whole. */
function scoreOf(signs: readonly Weighed[]): number {
  const placed = signs.filter((sign) => sign.at !== undefined).toSorted((a, b) => a.at! - b.at!);
  const overall = signs.filter((sign) => sign.at === undefined);
  let most = sumOf(overall);
  for (const [index, first] of placed.entries()) {
    const close: Weighed[] = [];
    for (let next = index; next < placed.length; next++) {
      const each = placed[next]!;
      if (each.at! - first.at! > TOGETHER) break;
      if (each.path === first.path) close.push(each);
    }
    most = Math.max(most, sumOf([...close, ...overall]));
  }
  return most;
}

/** Each reason counts once, with the heaviest of its signs. */
function sumOf(signs: readonly Weighed[]): number {
  const heaviest = new Map<string, number>();
  for (const { reason, weight } of signs) heaviest.set(reason, Math.max(heaviest.get(reason) ?? 0, weight));
  return [...heaviest.values()].reduce((sum, weight) => sum + weight, 0);
}

/** What speaks against a definition: of a tool, a prompt, a resource, or of what a server says of itself. The heaviest comes first. */
export function findFindings(definition: JsonObject): Finding[] {
  const signs = weighAll(definition);
  const isHeld = scoreOf(signs) >= HARD;
  const found = new Map<string, Weighed>();
  for (const sign of signs) {
    const known = found.get(sign.reason);
    if (!known || known.weight < sign.weight) found.set(sign.reason, sign);
  }
  return [...found.values()]
    .filter(({ weight }) => weight > 1 || isHeld)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ check, reason, weight, path }) => ({
      check,
      reason,
      isHard: weight >= HARD || (isHeld && weight > 1),
      ...(path === undefined ? {} : { path }),
    }));
}
