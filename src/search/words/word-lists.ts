import type { Analyzer } from '../text/analysis.js';
import { createEverydayWords } from './everyday-words.js';
import { createTranslator } from './foreign.js';
import type { WordLists } from '../query.js';
import { createVerbClasses } from './verb-classes.js';

/** What is known about words; `analyzer` is that of the index. */
export function createWordLists(analyzer: Analyzer): WordLists {
  const termOf = (word: string): string => analyzer.terms(word)[0] ?? word;
  return {
    classes: createVerbClasses(termOf),
    everyday: createEverydayWords(termOf),
    translator: createTranslator(),
  };
}
