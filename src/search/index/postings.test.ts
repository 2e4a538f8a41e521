import { describe, expect, it } from 'vitest';
import type { Tool } from '../../model/tool.js';
import { createDraft, type Draft } from './draft.js';
import { FREQUENCY_BITS, HIGHEST_FREQUENCY } from './posting-lists.js';
import { createPostings } from './postings.js';
import { averageLength } from '../rank/score.js';

interface Document {
  readonly name: string;
  readonly terms: readonly string[];
}

function document(name: string, ...terms: string[]): Document {
  return { name, terms };
}

function draft(...documents: Document[]): Draft {
  const made = createDraft();
  for (const { name, terms } of documents) made.add({ server: 's', name } as Tool, [[name], ['s'], terms, [], []]);
  return made;
}

describe('createPostings', () => {
  it('FIND-3 seeking in a list finds the document or the next higher one, from any earlier place', () => {
    const postings = createPostings();
    postings.add(draft(...Array.from({ length: 60 }, (_, i) => document(`t${i}`, i % 7 < 3 ? 'red' : 'blue'))));
    const { lists } = postings;
    const red = postings.vocabulary.find('red')!;
    const held: number[] = [];
    for (let at = lists.start(red); at < lists.end(red); at += 2) held.push(lists.arena[at]!);
    expect(held).toEqual(Array.from({ length: 60 }, (_, i) => i).filter((i) => i % 7 < 3));
    for (let from = 0; from < held.length; from++) {
      for (let wanted = held[from]!; wanted <= 60; wanted++) {
        const at = lists.seek(red, wanted, lists.start(red) + from * 2);
        const next = held.find((one) => one >= wanted);
        if (next === undefined) expect(at).toBe(lists.end(red));
        else expect(lists.arena[at]).toBe(next);
      }
    }
  });

  it('FIND-3 counts uses and lengths of what is there, and only of that', () => {
    const postings = createPostings();
    postings.add(draft(document('a', 'red', 'red', 'blue')));
    const gone = postings.add(draft(document('b', 'red'), document('c', 'green')));
    const uses = (term: string): number => postings.vocabulary.uses(postings.vocabulary.intern(term));
    expect([uses('red'), uses('blue'), uses('green'), uses('s')]).toEqual([2, 1, 1, 3]);
    expect(averageLength(2, postings)).toBeCloseTo(5 / 3);
    postings.remove(gone);
    expect([uses('red'), uses('blue'), uses('green'), uses('s')]).toEqual([1, 1, 0, 1]);
    expect(averageLength(2, postings)).toBe(3);
    expect(postings.vocabulary.find('green')).toBeUndefined();
  });

  it('FIND-3 what was removed is forgotten, so that replacing for ever holds no more than the catalog', () => {
    const postings = createPostings();
    const kept = postings.add(draft(document('kept', 'stays')));
    for (let i = 0; i < 5000; i++) {
      postings.remove(postings.add(draft(document(`tool${i}`, `term${i}`, 'stays'))));
      postings.clear(16);
    }
    expect(postings.size).toBe(1);
    expect(postings.owners.length).toBeLessThan(600);
    expect(postings.vocabulary.size).toBeLessThan(10);
    expect(postings.owners[kept.first]).toBe(kept);
    const id = postings.vocabulary.find('stays')!;
    expect(postings.lists.find(id, kept.first)).not.toBe(0);
    expect(postings.lists.end(id) - postings.lists.start(id)).toBeLessThan(1200);
  });

  it('FIND-3 whatever comes in the middle of clearing out, also a server without tools, has its place afterwards', () => {
    for (let work = 1; work < 60; work++) {
      const postings = createPostings(1);
      const kept = postings.add(draft(document('a', 'red'), document('b', 'blue')));
      postings.remove(postings.add(draft(...Array.from({ length: 9 }, (_, i) => document(`gone${i}`, 'red')))));
      postings.clear(work);
      const empty = postings.add(draft());
      const alone = postings.add(draft(document('c', 'red', 'green')));
      const passing = postings.add(draft(document('d', 'green')));
      postings.clear(1);
      postings.remove(passing);
      while (postings.clear(1)) continue;
      postings.remove(empty);
      const held = (term: string, { first }: { first: number }): boolean =>
        postings.lists.find(postings.vocabulary.find(term)!, first) !== 0;
      expect([postings.size, postings.owners[kept.first], postings.owners[alone.first]]).toEqual([3, kept, alone]);
      expect([held('red', kept), held('red', alone), held('green', alone), held('blue', alone)]).toEqual([
        true,
        true,
        true,
        false,
      ]);
      expect(postings.owners.length).toBeLessThanOrEqual(5);
    }
  });

  it('FIND-4 frequencies and lengths beyond what is told apart are cut, not carried into another field', () => {
    const postings = createPostings();
    const { first } = postings.add(draft(document('a', ...Array.from({ length: 1000 }, () => 'again'))));
    expect(postings.lengths[first * 5 + 2]).toBe(255);
    expect(postings.lists.find(postings.vocabulary.find('again')!, first)).toBe(
      HIGHEST_FREQUENCY << (2 * FREQUENCY_BITS),
    );
  });
});
