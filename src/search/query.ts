import { LIMITS } from '../kernel/limits.js';
import { editDistance } from '../kernel/text.js';
import type { Vocabulary } from './index/posting-lists.js';
import { rarity, type QueryTerm } from './rank/score.js';
import { isStopWord, isUnspaced, productNames, type Analyzer, type Translator, type Word } from './text/analysis.js';
import { splitClauses, type Clauses } from './text/needs.js';
import type { Action, Actions } from './words/actions.js';
import { conceptTerm, type Lexicon } from './words/lexicon.js';

/** A query made ready for one index. */
export interface Query {
  /** Nothing in it can be scored: everything is listed by name instead. */
  readonly empty: boolean;
  /** What the query says itself, misspellings corrected. */
  readonly own: readonly QueryTerm[];
  /** Words of the same class as an own term. */
  readonly related: readonly QueryTerm[];
  /** What the query asks for in the words people use, as terms of the concepts of the lexicon. */
  readonly concepts: readonly QueryTerm[];
  /** The actions the query names, in its order. */
  readonly actions: readonly Action[];
  /** The terms whose meaning is compared with that of tools: its words, those that no tool uses too, and translations. */
  readonly meant: readonly string[];
  /** Weighted words that no tool uses. */
  readonly unknown: number;
  /** How many clauses the query has. */
  readonly clauses: number;
}

/** What is known about words, beside the words themselves. */
export interface WordLists {
  /** Other terms of the classes of a term. */
  readonly classes: ReadonlyMap<string, readonly string[]>;
  readonly translator: Translator;
  readonly actions: Actions;
  readonly lexicon?: Lexicon;
}

/** What a word of the same class counts, against the word itself. */
const CLASS_WEIGHT = 0.3;

/** Several words that lead to one related word add up to a limit. */
const MAX_RELATED_WEIGHT = 0.5;

/** What a plain word for a phrasal verb counts, and a concept, against a word of the query. */
const REWRITTEN_WEIGHT = 0.5;
const CONCEPT_WEIGHT = 0.5;

/** What repeating a word adds, against its first occurrence: by the logarithm of how often it stands there. */
const REPETITION_WEIGHT = 0.5;

/** What the parts of a product's name count beside the name, or PowerPoint would be three words, and a number. */
const PART_WEIGHT = 0.5;
const NUMBER_WEIGHT = 0.5;
const NUMBER = /^\p{N}+$/u;

/** Whether a word is written in Latin letters. */
const LATIN = /^[\p{sc=Latin}\p{N}]/u;

/** What a translation counts, against an English word. */
const TRANSLATED_WEIGHT = 0.8;

/** What a corrected word counts, against one that was spelt right. */
const CORRECTED_WEIGHT = 0.7;

/** Shorter words have too many neighbours, and longer queries hold no more typos. */
const MIN_CORRECTED_LENGTH = 5;
const MAX_CORRECTED_WORDS = 16;

/** A web address; its host may name a product, the rest of it is somebody's page. */
const ADDRESS = /\bhttps?:\/\/(?:[^\s/@]*@)?(?:www\.)?([^\s/:?#"'<>)]+)[^\s"'<>)]*/giu;

/** An address of a person. */
const MAIL = /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;

/** A place on a disk: from the root, the home, this folder or a drive. */
const PATH =
  /(?<![\p{L}\p{N}/:.])(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:[\p{L}\p{N}_.@*-]+[\\/])*([\p{L}\p{N}_@*-]*)(\.[A-Za-z][A-Za-z\d]{0,5})?(?![\p{L}\p{N}])/gu;

/** The name of a file, by its ending. */
const FILE =
  /(?<![\p{L}\p{N}_*@/.-])[\p{L}\p{N}_*-]+\.(csv|docx?|drawio|gif|html?|ipynb|jpe?g|json|log|md|pdf|png|pptx?|py|sh|sql|svg|toml|tsv|tsx?|txt|xlsx?|xml|ya?ml|zip)(?![\p{L}\p{N}])/giu;

/** A place on earth: two numbers with decimals. */
const COORDINATES = /(?<![\d.])-?\d{1,3}\.\d{2,}\s*[,;/ ]\s*-?\d{1,3}\.\d{2,}(?![\d.])/gu;

/** A word with a capital that does not begin a sentence. */
const PROPER_NAME = /(?<=[\p{L}\p{N},;:)'"“„«(-]\s*["'“„«(]?)(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}]+/gu;

const encoder = new TextEncoder();

/** The beginning of a query, {@link LIMITS.queryBytes} long at most; never half a character. */
export function cutQuery(text: string): string {
  // A character takes three bytes at the most for each of its halves.
  if (text.length * 3 <= LIMITS.queryBytes) return text;
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(LIMITS.queryBytes)).read);
}

/**
 * A query in which values are replaced by what they are: the words of an address, a path or a file name say nothing about
 * what is to be done with it, but tools for web pages, files and places have such parameters.
 */
export function nameValues(text: string): string {
  return text
    .replace(ADDRESS, (_, host: string) => ` ${host} url `)
    .replace(MAIL, ' ')
    .replace(PATH, (whole, name: string, ending: string | undefined) => {
      if (name === '' && ending === undefined) return whole;
      return ending === undefined ? ' directory folder ' : ` file path ${ending.slice(1)} `;
    })
    .replace(FILE, (_, ending: string) => ` file path ${ending} `)
    .replace(COORDINATES, ' coordinates location ');
}

/** A term of a query before it is looked up. */
interface Counted {
  readonly word: string;
  readonly share: number;
  readonly clauses: number;
  count: number;
}

/** Reads a query: own terms by the logarithm of their frequency, corrections of unknown words, related terms. */
export function parseQuery(
  text: string,
  analyzer: Analyzer,
  vocabulary: Vocabulary,
  lists: WordLists,
  size: number,
): Query {
  const cut = nameValues(cutQuery(text));
  const clauses = splitClauses(cut, analyzer);
  const names = properTerms(cut, analyzer);
  const counts = countTerms(cut, analyzer, vocabulary, lists.translator, clauses);

  const parts = partsOfNames(cut, analyzer, vocabulary);

  const own = new Map<number, QueryTerm>();
  const related = new Map<number, QueryTerm>();
  const relate = (terms: readonly string[], most: number, from: Counted, source: number | undefined): void => {
    for (const id of terms.map((term) => vocabulary.find(term)).filter((found) => found !== undefined)) {
      const weight = most * (source === undefined ? 1 : Math.min(1, rarityOf(source) / rarityOf(id)));
      const known = related.get(id) ?? { id, weight: 0, word: from.word, clauses: 0 };
      const sum = Math.max(known.weight, Math.min(MAX_RELATED_WEIGHT, known.weight + weight));
      related.set(id, { ...known, weight: sum, clauses: (known.clauses ?? 0) | from.clauses });
    }
  };
  // A rare word says more than a common one, but not when it only stands for the common one.
  const rarityOf = (id: number): number => rarity(vocabulary.uses(id), size);
  let unknown = 0;
  let corrections = 0;
  for (const [term, counted] of counts) {
    const { word } = counted;
    const kind = (parts.has(term) ? PART_WEIGHT : 1) * (NUMBER.test(term) ? NUMBER_WEIGHT : 1);
    const weight = (1 + REPETITION_WEIGHT * Math.log(counted.count)) * counted.share * kind;
    const id = vocabulary.find(term);
    relate(lists.classes.get(term) ?? [], weight * CLASS_WEIGHT, counted, id);
    if (id !== undefined) {
      own.set(id, { id, weight, word, proper: names.has(term), clauses: counted.clauses });
      continue;
    }
    const misspelt = !lists.classes.has(term) && corrections++ < MAX_CORRECTED_WORDS;
    const corrected = misspelt ? correct(term, vocabulary) : undefined;
    if (corrected === undefined) unknown += weight;
    else if (!own.has(corrected)) {
      own.set(corrected, { id: corrected, weight: weight * CORRECTED_WEIGHT, word, clauses: counted.clauses });
    }
  }
  const stems = stemsOf(cut, analyzer, lists.translator, vocabulary);
  const isForeign = lists.translator.isForeign(analyzer.stems(cut));
  /** Whether a word is of another language: it may be inflected, and its plain words are all that it says. */
  const isOther = (place: number): boolean => {
    const { text: word, term } = stems[place]!;
    return (isForeign || !LATIN.test(word)) && vocabulary.find(term) === undefined;
  };
  const isInflected = (place: number): boolean => isOther(place) && !isUnspaced(stems[place]!.text);
  const rewritten = lists.lexicon?.rewrite(
    stems.map(({ term }) => term),
    isInflected,
  );
  const english = new Map<number, string[]>();
  for (const { at, terms } of rewritten ?? []) {
    const { text: word, term } = stems[at]!;
    const from = { word, share: 1, clauses: clauses.of(term), count: 1 };
    if (isOther(at)) {
      english.set(at, [...new Set([...(english.get(at) ?? []), ...terms])]);
      for (const id of terms.map((one) => vocabulary.find(one)).filter((found) => found !== undefined)) {
        if (!own.has(id)) own.set(id, { id, weight: TRANSLATED_WEIGHT, word, clauses: from.clauses });
      }
    } else relate(terms, REWRITTEN_WEIGHT, from, undefined);
  }
  const spoken = stems.flatMap((stem, at) => english.get(at)?.map((term) => ({ text: stem.text, term })) ?? [stem]);
  const concepts: QueryTerm[] = [];
  for (const { concept, weight, at } of lists.lexicon?.asked(spoken.map(({ term }) => term)) ?? []) {
    const id = vocabulary.find(conceptTerm(concept));
    const { text: word, term } = spoken[at]!;
    if (id !== undefined) concepts.push({ id, weight: weight * CONCEPT_WEIGHT, word, clauses: clauses.of(term) });
  }
  for (const id of own.keys()) related.delete(id);
  const meant = spoken.filter(({ text: word }) => !isStopWord(word)).map(({ term }) => term);
  const actions = spoken.map(({ term }) => lists.actions.byTerm.get(term)).filter((action) => action !== undefined);
  return {
    empty: counts.size === 0,
    concepts,
    actions: [...new Set(actions)],
    own: [...own.values()],
    related: [...related.values()],
    meant: [...new Set([...analyzer.terms(cut), ...meant])],
    unknown,
    clauses: clauses.count,
  };
}

/** The terms of what a query writes as a name. */
function properTerms(text: string, analyzer: Analyzer): ReadonlySet<string> {
  return new Set((text.match(PROPER_NAME) ?? []).flatMap((name) => analyzer.terms(name)));
}

/** The stems of a query in their order, those of other languages as their translations. */
function stemsOf(text: string, analyzer: Analyzer, translator: Translator, vocabulary: Vocabulary): Word[] {
  const stems = analyzer.stems(text);
  const translations = translator.translate(stems, (word) => vocabulary.find(word.term) !== undefined);
  if (translations.size === 0) return stems;
  return stems.flatMap((word) => {
    const english = translations.get(word.text);
    if (!english) return [word];
    return english.flatMap((translation) => analyzer.terms(translation)).map((term) => ({ text: word.text, term }));
  });
}

/** The terms of a query and how often each stands in it; words of other languages as their translations. */
function countTerms(
  text: string,
  analyzer: Analyzer,
  vocabulary: Vocabulary,
  translator: Translator,
  clauses: Clauses,
): ReadonlyMap<string, Counted> {
  const counts = new Map<string, Counted>();
  const count = (term: string, word: Word, share: number): void => {
    const counted = counts.get(term) ?? { word: word.text, share, clauses: clauses.of(word.term), count: 0 };
    counted.count++;
    counts.set(term, counted);
  };
  const words = analyzer.words(text);
  const isKnown = (word: Word): boolean => vocabulary.find(word.term) !== undefined;
  const translations = translator.translate(words, isKnown);
  for (const word of words) {
    // Stop words remain only where nothing else does; then those count that a tool is called by.
    if (isStopWord(word.text) && !isKnown(word)) continue;
    const english = translations.get(word.text);
    // Tools may be written in the language of the query, where it leaves no doubt about what a word is.
    if (!english || (isUnspaced(word.text) && isKnown(word))) count(word.term, word, 1);
    for (const term of (english ?? []).flatMap((translation) => analyzer.terms(translation))) {
      count(term, word, TRANSLATED_WEIGHT);
    }
  }
  return counts;
}

/** The terms of the parts of product names that some tool knows as a whole. */
function partsOfNames(text: string, analyzer: Analyzer, vocabulary: Vocabulary): ReadonlySet<string> {
  const parts = new Set<string>();
  for (const name of productNames(text)) {
    const [whole] = analyzer.terms(name.toLowerCase());
    if (whole === undefined || vocabulary.find(whole) === undefined) continue;
    for (const part of analyzer.nameTerms(name)) if (part !== whole) parts.add(part);
  }
  return parts;
}

/** The most used term that is one edit away from a word that no tool uses. */
function correct(term: string, vocabulary: Vocabulary): number | undefined {
  if (term.length < MIN_CORRECTED_LENGTH || !/^\p{L}+$/u.test(term)) return undefined;
  const [best] = vocabulary
    .near(term, 1)
    .filter((id) => editDistance(term, vocabulary.text(id), 1) <= 1)
    .toSorted((a, b) => vocabulary.uses(b) - vocabulary.uses(a) || (vocabulary.text(a) < vocabulary.text(b) ? -1 : 1));
  return best;
}
