import { describe, expect, it } from 'vitest';
import { createAnalyzer, createTranslator } from './text/analysis.js';
import { createActions } from './words/actions.js';
import { parseQuery } from './query.js';
import { createVocabulary } from './index/posting-lists.js';

/** What each word of a query counts where tools use some words. */
function weights(query: string, ...used: string[]): Record<string, number> {
  const vocabulary = createVocabulary();
  for (const term of used) vocabulary.addUses(vocabulary.intern(term), 1);
  const lists = { classes: new Map(), translator: createTranslator(), actions: createActions((word) => word) };
  const { own } = parseQuery(query, createAnalyzer(), vocabulary, lists, used.length);
  return Object.fromEntries(own.map(({ id, weight }) => [vocabulary.text(id), weight]));
}

describe('parseQuery', () => {
  it('FIND-1 the name of a product counts whole, its parts half', () => {
    const found = weights('open PowerPoint', 'open', 'powerpoint', 'power', 'point');
    expect(found).toEqual({ open: 1, powerpoint: 1, power: 0.5, point: 0.5 });
  });

  it('FIND-1 where no tool knows the whole name its parts count as words', () => {
    expect(weights('open PowerPoint', 'open', 'power', 'point')).toEqual({ open: 1, power: 1, point: 1 });
    expect(weights('power point', 'powerpoint', 'power', 'point')).toEqual({ power: 1, point: 1 });
  });

  it('FIND-1 a number counts half of a word, in every script', () => {
    expect(weights('top 10 within ٣ km', 'top', '10', '٣', 'km')).toEqual({ top: 1, 10: 0.5, '٣': 0.5, km: 1 });
  });
});
