import { describe, expect, it } from 'vitest';
import type { Tool } from '../../model/tool.js';
import { createDraft } from '../index/draft.js';
import { createPostings, type Postings } from '../index/postings.js';
import { createScorer, type QueryTerm } from './score.js';

/** Two servers of a hundred tools: every tool holds `get`, every second `list`, every tenth `issue`. */
function samplePostings(): Postings {
  const postings = createPostings();
  for (const server of ['a', 'b']) {
    const draft = createDraft();
    for (let i = 0; i < 100; i++) {
      const words = ['get', ...(i % 2 === 0 ? ['list'] : []), ...(i % 10 === 0 ? ['issue'] : [])];
      draft.add({ server, name: `t${i}` } as Tool, [[`t${i}`], [server], words, [], []]);
    }
    postings.add(draft);
  }
  return postings;
}

const termsOf = (postings: Postings, ...words: string[]): QueryTerm[] =>
  words.map((word) => ({ id: postings.vocabulary.find(word)!, weight: 1, word }));

describe('createScorer', () => {
  it('FIND-3 common words beyond the allowance bring in no documents, and still count for those that are in', () => {
    const postings = samplePostings();
    const terms = termsOf(postings, 'get', 'list', 'issue');
    const all = createScorer()(terms, postings);
    expect(all.documents).toHaveLength(200);
    const bounded = createScorer(50)(terms, postings);
    expect(bounded.documents).toHaveLength(20);
    for (const document of bounded.documents) expect(bounded.values[document]).toBeCloseTo(all.values[document]!, 5);
  });

  it('FIND-3 the rarest word is read whatever it costs, and a scorer forgets one query before the next', () => {
    const postings = samplePostings();
    const score = createScorer(5);
    expect(score(termsOf(postings, 'get'), postings).documents).toHaveLength(200);
    const { documents, values } = score(termsOf(postings, 'issue'), postings);
    expect(documents).toHaveLength(20);
    expect(values.filter((value) => value > 0)).toHaveLength(20);
  });

  it('FIND-3 within a server only its own documents are read', () => {
    const postings = samplePostings();
    const second = postings.owners[150]!;
    const { documents } = createScorer()(termsOf(postings, 'list', 'issue'), postings, second);
    expect([...documents].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => 100 + i * 2));
  });
});
