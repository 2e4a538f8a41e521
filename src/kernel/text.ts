import { INVISIBLE_GROUPS, SHAPELESS } from './invisible-characters.js';

/** Everything that could move a cursor, hide text or break a line; shown as its escape instead. */
const UNPRINTABLE = new RegExp(`[${INVISIBLE_GROUPS.controls}${INVISIBLE_GROUPS.breaks}${SHAPELESS}]`, 'gu');

/** Every unit of a character as JSON would escape it, so that escaped JSON is still the same JSON. */
function escapeUnits(character: string): string {
  let escaped = '';
  for (let at = 0; at < character.length; at++) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}

/** Text from elsewhere made safe for a terminal or a log: control and invisible characters are escaped. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeUnits);
}

/** Text on one line, at most `length` characters, cut at a word with an ellipsis. */
export function oneLine(text: string, length: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  if (flat.length <= length) return flat;
  const cut = flat.slice(0, length - 1);
  const space = cut.lastIndexOf(' ');
  return `${(space > length * 0.6 ? cut.slice(0, space) : cut).replace(/[\s,;:.\ud800-\udbff]+$/, '')}…`;
}

/** A number with what it counts: `1 tool`, `2 tools`, `1 query`, `2 queries`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A time for people: `300 ms`, `1.5 s`, `30 s`. */
export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 100) / 10} s`;
}

/** A limit of bytes for people: `32 MiB`. */
export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 102.4) / 10} MiB`;
}

/** Edit distance with transpositions, given up (as `Infinity`) once it must exceed `limit`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Infinity;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
      best = Math.min(best, cost);
    }
    if (best > limit) return Infinity;
    before = last;
    last = row;
  }
  return last[b.length]! > limit ? Infinity : last[b.length]!;
}

/** Pairs of letters that are compared for one suggestion; beyond them only names that contain the wrong one are found. */
const MAX_CELLS = 20_000_000;

/** The known names closest to a wrong one, best first: small misspellings and names that contain it. */
export function nearestNames(wanted: string, known: Iterable<string>, count = 3): string[] {
  const target = wanted.slice(0, 200).toLowerCase();
  if (target === '') return [];
  // One letter may stand for anything: of a name of two, half would be guessed.
  const limit = target.length < 3 ? 0 : Math.floor(target.length / 3);
  const scored: Array<{ name: string; score: number }> = [];
  let cells = MAX_CELLS;
  for (const name of known) {
    const candidate = name.toLowerCase();
    const isClose = Math.abs(candidate.length - target.length) <= limit;
    if (isClose) cells -= target.length * candidate.length;
    const distance = isClose && cells > 0 ? editDistance(target, candidate, limit) : Infinity;
    const contains =
      (target.length > 1 && candidate.includes(target)) || (candidate.length > 2 && target.includes(candidate));
    const score = Math.min(distance, contains ? 0.5 + Math.abs(candidate.length - target.length) / 100 : Infinity);
    if (score < Infinity) scored.push({ name, score });
  }
  return scored
    .toSorted((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map((entry) => entry.name);
}

/** A sentence that suggests the nearest names; empty without names. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?`;
}

/** Runs of Latin letters, up to three digits, or any other character by itself. */
const TEXT_RUNS = /[A-Za-z]+|[0-9]{1,3}|[^A-Za-z0-9]/gu;

/** What even the oddest letters are cut into at the most: consonants with their vowel, and letters by themselves. */
const SYLLABLES = /[b-df-hj-np-tv-z]?[aeiou]|[b-df-hj-np-tv-z]/g;

function mostInRun(run: string): number {
  if (/^[0-9]/.test(run)) return 1;
  if (!/^[a-z]+$/.test(run)) return Buffer.byteLength(run);
  return Math.min(run.length, (run.match(SYLLABLES)?.length ?? 0) + 1);
}

/** An upper bound of the tokens of a text (o200k), for limits that must hold for any name. */
export function mostTokens(text: string): number {
  let most = 0;
  for (const [run] of text.matchAll(TEXT_RUNS)) most += mostInRun(run);
  return most;
}
