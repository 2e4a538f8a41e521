import * as fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { describedTool } from '../../../test/support/test-tool.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { repetitions } from '../../../test/support/long-form.js';
import type { Tool } from '../../model/tool.js';
import { createPostings, type Postings } from './postings.js';
import { createIndex, type ToolIndex } from '../search.js';

const WORDS = 'read write file issue branch message channel invoice calendar event weather page'.split(' ');

interface Described {
  readonly name: string;
  readonly description: string;
}

function toolsOf(server: string, described: readonly Described[]): Tool[] {
  return described.map(({ name, description }) => describedTool(server, name, description));
}

type Step =
  | { readonly kind: 'put'; readonly server: string; readonly tools: readonly Described[] }
  | { readonly kind: 'remove'; readonly server: string }
  | { readonly kind: 'clear'; readonly work: number }
  | { readonly kind: 'ask'; readonly query: string };

const server = fc.constantFrom('files', 'chat', 'code', 'sales', 'days');
// Words that every run coins anew come into the vocabulary and leave it again.
const word = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...WORDS) }, fc.stringMatching(/^[b-df-hj-np-tv-z]{6}$/));
const described = fc.record({
  name: fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => words.join('_')),
  description: fc.array(word, { maxLength: 6 }).map((words) => words.join(' ')),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), server, tools: fc.array(described, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('remove' as const), server }),
  fc.record({ kind: fc.constant('clear' as const), work: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ kind: fc.constant('ask' as const), query: fc.array(word, { maxLength: 4 }).map((all) => all.join(' ')) }),
);

/** Everything a query can tell. */
function told(index: ToolIndex, query: string): unknown {
  return {
    size: index.size,
    servers: index.servers(),
    tools: index.tools(),
    hits: index.search(query, { limit: 50, explain: true }),
    within: index.search(query, { server: 'files', explain: true }),
    nearest: index.nearest(query),
  };
}

/** An index that can be made as new; making another takes longer than all that is done here with one. */
function createRenewable(adjust: (postings: Postings) => Postings): { index: ToolIndex; renew(): Postings } {
  let postings = createPostings();
  const current = new Proxy(postings, { get: (_, key) => Reflect.get(adjust(postings), key) as unknown });
  const index = createIndex(undefined, current);
  return {
    index,
    renew() {
      for (const id of index.servers()) index.remove(id);
      postings = createPostings(2);
      return postings;
    },
  };
}

function filled(tools: ReadonlyMap<string, readonly Tool[]>, index: ToolIndex): ToolIndex {
  for (const [id, own] of tools) index.replace(id, own);
  return index;
}

describe('clearing out what was removed', () => {
  it(
    'FIND-3 whatever is put, removed and cleared in slices, every query is answered as by a fresh index',
    COMPUTES_LONG,
    () => {
      let begun = 0;
      // Nothing is cleared but by the steps, so that they come in between wherever they can.
      const churned = createRenewable((all) => Object.create(all, { clear: { value: () => false } }) as Postings);
      const fresh = createRenewable((all) => all);
      fc.assert(
        fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
          const postings = churned.renew();
          const { index } = churned;
          const expectAsFresh = (query: string): void => {
            fresh.renew();
            expect(told(index, query)).toEqual(told(filled(there, fresh.index), query));
          };
          const there = new Map<string, readonly Tool[]>();
          for (const one of steps) {
            if (one.kind === 'put') {
              const tools = toolsOf(one.server, one.tools);
              index.replace(one.server, tools);
              there.set(one.server, tools);
            } else if (one.kind === 'remove') {
              index.remove(one.server);
              there.delete(one.server);
            } else if (one.kind === 'clear') {
              if (postings.clear(one.work)) begun++;
            } else {
              expectAsFresh(one.query);
            }
          }
          while (postings.clear(1)) begun++;
          expect(postings.owners.length).toBeLessThanOrEqual(Math.floor(postings.size * 1.25) + 2);
          for (const query of ['read file', 'weather page', '']) expectAsFresh(query);
        }),
        { numRuns: repetitions(60, 300) },
      );
      expect(begun).toBeGreaterThan(100);
    },
  );
  it(
    'FIND-3 two hundred replacements of servers leave no more than twice what a fresh index holds',
    COMPUTES_LONG,
    async () => {
      const coined = (number: number): string =>
        [...number.toString(8)].map((digit) => 'bdfgklmn'[Number(digit)]).join('o');
      const version = (id: number, round: number): Tool[] =>
        toolsOf(
          `s${id}`,
          Array.from({ length: 40 }, (_, i) => ({
            name: `${coined(id * 40 + i)}_${WORDS[i % WORDS.length]}`,
            description: `${WORDS[(i + id) % WORDS.length]} the ${coined((id + i) ** 2)} of ${coined(round * 1000 + i)}`,
          })),
        );
      for (const isAlone of [true, false]) {
        const latest = new Map(Array.from({ length: 75 }, (_, id) => [`s${id}`, version(id, 0)]));
        const postings = createPostings();
        const index = filled(latest, createIndex(undefined, postings));
        let most = 0;
        for (let round = 1; round <= 200; round++) {
          const id = (round * 11) % 75;
          latest.set(`s${id}`, version(id, round));
          if (isAlone) index.replace(`s${id}`, latest.get(`s${id}`)!);
          else await index.fill(`s${id}`, latest.get(`s${id}`)!);
          most = Math.max(most, postings.bytes);
        }
        for (let turn = 0; turn < 20; turn++) await nextTurn();
        const fresh = createPostings();
        filled(latest, createIndex(undefined, fresh));
        expect(postings.bytes).toBeLessThan(2 * fresh.bytes);
        expect(postings.owners.length).toBeLessThan(1.5 * fresh.owners.length);
        expect(postings.vocabulary.size).toBeLessThan(1.5 * fresh.vocabulary.size);
        // For a while what is left stands in both places.
        expect(most).toBeLessThan(4 * fresh.bytes);
      }
    },
  );

  it('FIND-3 a large server that is removed is cleared out between the turns of others, not at once', async () => {
    const postings = createPostings();
    const index = createIndex(undefined, postings);
    const many = Array.from({ length: 3000 }, (_, i) => ({
      name: `tool_${i}`,
      description: `${WORDS.join(' ')} ${i}`,
    }));
    index.replace('small', toolsOf('small', many.slice(0, 10)));
    index.replace('large', toolsOf('large', many));
    index.remove('large');
    const hits = index.search('write an invoice');
    const ends = new Set<number>();
    for (let turn = 0; turn < 100; turn++) {
      ends.add(postings.owners.length);
      expect(index.search('write an invoice')).toEqual(hits);
      await nextTurn();
    }
    expect([...ends]).toEqual([3010, 10]);
    expect(hits).toHaveLength(10);
  });
});
