import { conceptNumber } from './lexicon.js';
import type { Reading } from './reading.js';
import type { Placed } from './signs.js';

const DESCRIBES = conceptNumber('describes');
const EXAMPLE = conceptNumber('example');
const PROTECT = conceptNumber('protect');
const RIDDLE = conceptNumber('riddle');
const NOT = conceptNumber('not');
/** Words from a "not" to what it turns round. */
const NEAR = 4;

/** "Never … without asking" is the opposite of "without asking". */
const NEVER_WITHOUT =
  /\b(?:never|not|dont|don't|no|ne|nunca|jamais|nie|niemals|nicht|mai|не|никогда|asla|jangan)\b.{0,60}\b(?:without|sans|sin|sem|ohne|senza|bez|без|tanpa)(?:\b|\s)/;
const ASKS_NOT = 'tells a model not to ask the user';

/** What an honest context takes from the weight of a sign. */
const LESS = 2;

/** The sentence in which something stands: its number, and where it begins and ends. */
function sentenceAt(
  reading: Reading,
  at: number,
): { readonly number: number; readonly begin: number; readonly end: number } {
  let number = 0;
  let begin = 0;
  let end = Infinity;
  for (const [each, start] of reading.starts.entries()) {
    if (start === undefined) continue;
    if (start > at) {
      end = start;
      break;
    }
    [number, begin] = [each, start];
  }
  return { number, begin, end };
}

/**
 * Signs with what the sentence around them takes away: a tool that says what it does ("Lists hidden files such as .env") gives no order to
 * anybody, an example is quoted, "unless the user asks" is said for the user, and a quiz keeps its answers to itself.
 */
export function weighContext(signs: readonly Placed[], plain: string, reading: Reading): Placed[] {
  if (signs.length === 0) return [];
  const described = new Set<number>();
  const quoting = new Set<number>();
  const caring = new Set<number>();
  let isGame = false;
  let lastNot = -Infinity;
  for (const { concept, sentence, place, at } of reading.mentions) {
    if (concept === NOT) lastNot = at;
    else if (concept === DESCRIBES && place === 0) described.add(sentence);
    else if (concept === EXAMPLE) quoting.add(sentence);
    else if (concept === PROTECT && at - lastNot > NEAR) caring.add(sentence);
    else if (concept === RIDDLE) isGame = true;
  }
  return signs.flatMap((sign) => {
    const { number, begin, end } = sentenceAt(reading, sign.at);
    if (sign.reason === ASKS_NOT && NEVER_WITHOUT.test(plain.slice(begin, end))) return [];
    const isHonest = described.has(number) && (!sign.isShape || quoting.has(number));
    const isCareful = !sign.isShape && (caring.has(number) || (isGame && sign.check === 'concealment'));
    return [isHonest || isCareful ? { ...sign, weight: sign.weight - LESS } : sign];
  });
}
