import type { JsonObject } from '../../kernel/json.js';
import { HARD, type Subject } from './check.js';
import { findHidden, findJoined } from './disguise.js';
import { weighContext } from './honest.js';
import { placeIn, prepare } from './prepare.js';
import { readText } from './reading.js';
import { CHECKS, signsIn } from './signs.js';
import { allowanceOf, scoreOf, tersenessOf, WORDING, type Found, type Weighed } from './score.js';
import { theWording, type Judged, type Wording } from './wording.js';

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
  /** The words that show it, as far as they are known; of a long text the beginning. */
  readonly text?: string;
}

/** So many words of mixed letters are no accident. */
const MANY_MIXED = 3;

/** Runs every check. */
export function weighAll(definition: JsonObject, wording: Wording): Found {
  const prepared = prepare(definition);
  const { pieces, plains, raw, plain, isCut } = prepared;
  const reading = readText(plain);
  const windows = wording.judge(reading);
  const worst = windows.reduce<Judged | undefined>((a, b) => (a && a.score >= b.score ? a : b), undefined);
  const signs: Weighed[] = [];
  const words = (worst?.score ?? -Infinity) > WORDING.closer;
  for (const sign of weighContext(signsIn(plain, reading, { words }), plain, reading)) {
    signs.push({ ...sign, ...placeIn(prepared, sign.at) });
  }
  const isPlainOrder = signs.some(({ weight }) => weight > 1);
  for (const sign of findHidden(prepared, isPlainOrder, wording)) {
    const { at, ...rest } = sign;
    signs.push(at === undefined ? rest : { ...rest, ...placeIn(prepared, at, { isRaw: true }) });
  }
  signs.push(...findJoined(plains, wording));
  if (reading.mixed > 1) {
    // No honest text has several words made of the letters of two scripts.
    const weight = reading.mixed > MANY_MIXED ? HARD : 3;
    signs.push({ check: 'characters', reason: 'is written in letters that pass for others', weight });
  }
  const subject: Subject = { definition, pieces, raw, plain };
  for (const check of CHECKS) {
    for (const sign of check.find?.(subject) ?? []) signs.push({ ...sign, check: check.name });
  }
  if (worst && worst.score >= WORDING.soft) {
    const asked = WORDING.hard + allowanceOf(windows.length) + tersenessOf(worst);
    const weight = worst.score >= asked ? HARD : 2;
    const reason = 'is worded like an order to a model';
    signs.push({ check: 'wording', reason, weight, ...placeIn(prepared, worst.begin, { to: worst.end }) });
  }
  if (isCut) signs.push({ check: 'size', reason: 'is too long to be read whole', weight: HARD });
  return { signs, windows };
}

/** What speaks against a definition: of a tool, a prompt, a resource, or of what a server says of itself. The heaviest comes first. */
export function findFindings(definition: JsonObject, wording: Wording = theWording()): Finding[] {
  const weighed = weighAll(definition, wording);
  const isHeld = scoreOf(weighed) >= HARD;
  const found = new Map<string, Weighed>();
  for (const sign of weighed.signs) {
    const known = found.get(sign.reason);
    if (!known || known.weight < sign.weight) found.set(sign.reason, sign);
  }
  return [...found.values()]
    .filter(({ weight }) => weight > 1 || (isHeld && weight > 0))
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ check, reason, weight, path, text }) => ({
      check,
      reason,
      isHard: isHeld && weight > 1,
      ...(path === undefined ? {} : { path }),
      ...(text === undefined ? {} : { text }),
    }));
}
