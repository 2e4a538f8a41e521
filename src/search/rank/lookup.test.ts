import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../model/tool.js';
import { createDraft } from '../index/draft.js';
import { createPostings, type Postings } from '../index/postings.js';
import { createLookUp } from './candidates.js';
import { sharesOf } from './score.js';

/** Servers of ten tools; the n-th word stands in every n-th tool, so lists of all lengths are there. */
function samplePostings(servers: number): Postings {
  const postings = createPostings();
  for (let server = 0; server < servers; server++) {
    const draft = createDraft();
    for (let i = 0; i < 10; i++) {
      const number = server * 10 + i;
      const words = Array.from({ length: 40 }, (_, n) => n + 1).filter((n) => number % n === 0);
      const terms = words.map((n) => `every${n}`);
      draft.add({ server: `s${server}`, name: `t${i}` } as Tool, [[`t${i}`], [`s${server}`], terms, [], []]);
    }
    postings.add(draft);
  }
  return postings;
}

describe('a lookup', () => {
  const postings = samplePostings(60);
  const lookUp = createLookUp();
  const termOf = (n: number): number => postings.vocabulary.find(`every${n}`)!;

  it('FIND-3 says of any documents what their lists say, however long these are', () => {
    const some = fc.uniqueArray(fc.nat(599), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 40 }), (documents, n) => {
        const lookup = lookUp(documents, postings);
        const term = termOf(n);
        for (const document of documents) {
          const place = lookup.placeOf(document);
          expect(lookup.documents[place]).toBe(document);
          expect(lookup.frequencies(term)[place]).toBe(postings.lists.find(term, document));
          const [share] = sharesOf([document], [{ id: term, weight: 1, word: '' }], postings);
          expect(lookup.shares(term)[place]).toBeCloseTo(share!, 5);
          const segment = lookup.segments[lookup.segmentAt[place]!]!;
          expect(segment).toBe(postings.owners[document]);
          const held = segment.tools.filter((_, i) => (segment.first + i) % n === 0).length;
          expect(lookup.spread(term)[lookup.segmentAt[place]!]).toBeCloseTo(held / segment.tools.length, 5);
        }
      }),
    );
  });

  it('FIND-4 looks up any number of terms', () => {
    const all = Array.from({ length: 600 }, (_, document) => document);
    const lookup = lookUp(all, postings);
    for (let term = 0; term < postings.vocabulary.size; term++) {
      const found = lookup.frequencies(term);
      for (const document of [0, 7, 599]) expect(found[document]).toBe(postings.lists.find(term, document));
      expect(lookup.frequencies(term)).toBe(found);
    }
  });

  it('FIND-2 knows the servers that have a word in their names', () => {
    const lookup = lookUp([0], postings);
    const { servers, own } = lookup.named(postings.vocabulary.find('s7')!);
    expect([...servers]).toEqual([postings.owners[70]]);
    expect(own).toBe(10);
    expect(lookup.named(termOf(1)).servers.size).toBe(0);
  });
});
