import { createTranslator, type Analyzer } from '../text/analysis.js';
import type { Actions } from './actions.js';
import type { WordLists } from '../query.js';
import type { Lexicon } from './lexicon.js';
import { createVerbClasses } from './verb-classes.js';

/** What is known about words; `analyzer` is that of the index. */
export function createWordLists(
  analyzer: Analyzer,
  actions: Actions,
  { lexicon }: { readonly lexicon?: Lexicon } = {},
): WordLists {
  const termOf = (word: string): string => analyzer.terms(word)[0] ?? word;
  return {
    classes: createVerbClasses(termOf),
    translator: createTranslator(),
    actions,
    lexicon,
  };
}
