import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { estimateTokens } from '../kernel/tokens.js';
import { counted, shortened } from './prune.js';
import { jsonOf, textOfBlock } from './result-data.js';
import { nameInPath } from './shape.js';
import { linesOf } from './text-lines.js';

/** A piece of a result that a search can find, and where it is. */
interface Unit {
  readonly where: string;
  readonly text: string;
}

/** Characters of a record that is found as one; a larger one is found by its parts. */
const MAX_RECORD = 1500;
/** Lines of a text that belong together around a line that was found. */
const CONTEXT = 1;
const MAX_UNITS = 400_000;
/** Characters that are searched, with the paths of what is nested: those of deep values are longer than the values. */
const MAX_SEARCHED = 128 * 1024 * 1024;
/** Words of a query that are looked for, and characters of one and of a phrase: every unit is searched for each of them. */
const MAX_WORDS = 32;
const MAX_WORD = 64;
const MAX_PHRASE = 256;

/** Lines of a text, each with its number. */
function* unitsOfText(text: string, path: string): Generator<Unit> {
  let line = 0;
  for (const written of linesOf(text)) {
    if (written.trim() !== '') yield { where: path === '' ? `line ${line}` : `${path}, line ${line}`, text: written };
    line++;
  }
}

/** Records, members and long texts of a JSON value, each with its path; a walk without recursion. */
function* unitsOfJson(root: JsonValue): Generator<Unit> {
  const stack: Array<readonly [value: JsonValue, path: string]> = [[root, '']];
  while (stack.length > 0) {
    const [value, path] = stack.pop()!;
    if (typeof value === 'string' && value.length > MAX_RECORD) yield* unitsOfText(value, path);
    else if (typeof value !== 'object' || value === null) yield { where: path, text: JSON.stringify(value) };
    else {
      const small = path === '' ? undefined : smallRecord(value);
      if (small !== undefined) yield { where: path, text: small };
      else for (const child of childrenOf(value, path).toReversed()) stack.push(child);
    }
  }
}

function childrenOf(value: JsonValue[] | JsonObject, path: string): Array<readonly [JsonValue, string]> {
  if (Array.isArray(value)) return value.map((item, at) => [item, `${path}[${at}]`] as const);
  return Object.keys(value).map((key) => {
    const name = nameInPath(key);
    return [value[key] ?? null, path === '' ? name : `${path}.${name}`] as const;
  });
}

/** The JSON of an object that is small enough to be one answer. */
function smallRecord(value: JsonValue[] | JsonObject): string | undefined {
  let left = MAX_RECORD;
  const stack: JsonValue[] = [value];
  while (stack.length > 0) {
    const next = stack.pop()!;
    left -= typeof next === 'string' ? next.length + 3 : 4;
    if (left < 0) return undefined;
    if (Array.isArray(next)) {
      if (next.length > left) return undefined;
      stack.push(...next);
    } else if (isObject(next)) {
      for (const key of Object.keys(next)) {
        left -= key.length + 3;
        stack.push(next[key] ?? null);
      }
    }
  }
  const text = JSON.stringify(value);
  return text.length <= MAX_RECORD ? text : undefined;
}

function* unitsOf(result: JsonObject): Generator<Unit> {
  const json = jsonOf(result);
  if (json !== undefined) {
    yield* unitsOfJson(json);
    return;
  }
  const blocks = Array.isArray(result['content']) ? result['content'] : [];
  for (const [at, block] of blocks.entries()) {
    const found = textOfBlock(block);
    if (found) {
      yield* unitsOfText(found.text, blocks.length === 1 ? '' : `content[${at}].${found.path}`);
    } else if (isObject(block) && block['type'] === 'resource_link')
      yield { where: `content[${at}]`, text: JSON.stringify(block) };
  }
}

/** Words and numbers of a text in one spelling; of scripts without spaces, pairs of characters. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [run] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(run)) {
      const letters = [...run];
      if (letters.length === 1) words.push(run);
      for (let at = 0; at + 1 < letters.length; at++) words.push(letters[at]! + letters[at + 1]!);
    } else words.push(stem(run));
  }
  return words;
}

/** A word without the endings that most often differ between a question and its answer. */
function stem(word: string): string {
  if (word.length < 5 || /\d/.test(word)) return word;
  return word.replace(/(ies|ied)$/, 'y').replace(/(ing|ed|es|s)$/, '');
}

/** Words of a question that say nothing about what is sought. */
const STOP = new Set(
  wordsOf(
    'the a an of in on at is are was were what which who when where how many much does do did to for and or by with its it',
  ),
);

interface Match {
  readonly unit: Unit;
  readonly at: number;
  readonly matched: ReadonlySet<string>;
  readonly hasPhrase: boolean;
  score: number;
}

/** What was found, best first, as text in at most so many tokens. */
export interface Findings {
  readonly text: string;
  readonly found: number;
  readonly shown: number;
}

/**
 * Finds the lines and records of a result that fit a query best: those with the whole phrase, then those with most of its words,
 * a rare word counting more than a common one.
 */
export function searchResult(result: JsonObject, query: string, limit: number, tokens: number): Findings {
  const asked = [...new Set(wordsOf(query))].filter((word) => word.length <= MAX_WORD);
  const telling = asked.filter((word) => !STOP.has(word));
  const sought = (telling.length > 0 ? telling : asked).slice(0, MAX_WORDS);
  const phrase = query.normalize('NFKC').toLowerCase().trim();
  const isPhrase = phrase.length > 2 && phrase.length <= MAX_PHRASE;
  const units: Unit[] = [];
  const matches: Match[] = [];
  const frequency = new Map<string, number>();
  let left = MAX_SEARCHED;
  for (const unit of unitsOf(result)) {
    left -= unit.where.length + unit.text.length;
    if (units.length >= MAX_UNITS || left < 0) break;
    const at = units.push(unit) - 1;
    const folded = `${unit.where} ${unit.text}`.normalize('NFKC').toLowerCase();
    // A word of the query that is nowhere in the text as written need not be looked for word by word.
    const candidates = sought.filter((word) => folded.includes(word));
    const hasPhrase = isPhrase && folded.includes(phrase);
    if (candidates.length === 0 && !hasPhrase) continue;
    const words = new Set(wordsOf(folded));
    const matched = new Set(
      candidates.filter((word) => words.has(word) || (word.length >= 4 && folded.includes(word))),
    );
    if (matched.size === 0 && !hasPhrase) continue;
    for (const word of matched) frequency.set(word, (frequency.get(word) ?? 0) + 1);
    matches.push({ unit, at, matched, hasPhrase, score: 0 });
  }
  for (const match of matches) {
    if (match.hasPhrase) match.score += 4;
    for (const word of match.matched) match.score += 1 + Math.log(1 + units.length / frequency.get(word)!);
  }
  matches.sort((a, b) => b.score - a.score || a.at - b.at);
  return write(matches, units, limit, tokens);
}

function write(matches: readonly Match[], units: readonly Unit[], limit: number, tokens: number): Findings {
  const parts: string[] = [];
  const seen = new Set<number>();
  let left = tokens;
  for (const { unit, at } of matches) {
    if (parts.length >= limit) break;
    if (seen.has(at)) continue;
    const part = `[${shortened(unit.where, 200)}]\n${contextOf(units, at, seen)}`;
    const cost = 2 + estimateTokens(part, left);
    if (cost > left) {
      if (parts.length > 0) break;
      parts.push(`[${shortened(unit.where, 200)}]\n${shortened(unit.text, left)}`);
      break;
    }
    left -= cost;
    parts.push(part);
  }
  return { text: parts.join('\n'), found: matches.length, shown: parts.length };
}

/** A line with its neighbours; a record stands for itself. */
function contextOf(units: readonly Unit[], at: number, seen: Set<number>): string {
  const { where, text } = units[at]!;
  seen.add(at);
  if (!/line \d+$/.test(where)) return text;
  const shown: string[] = [];
  for (let near = Math.max(0, at - CONTEXT); near <= Math.min(units.length - 1, at + CONTEXT); near++) {
    if (near !== at && !sameText(units[near]!.where, where)) continue;
    seen.add(near);
    shown.push(units[near]!.text);
  }
  return shown.join('\n');
}

function sameText(a: string, b: string): boolean {
  const start = (where: string): string => where.replace(/line \d+$/, '');
  return start(a) === start(b);
}

/** How many were found, as one phrase. */
export function foundPhrase({ found, shown }: Findings): string {
  return found === shown ? `${counted(found)} found` : `${counted(shown)} of ${counted(found)} found, best first`;
}
