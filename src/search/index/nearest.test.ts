import { describe, expect, it } from 'vitest';
import type { Tool } from '../../model/tool.js';
import { createDraft } from './draft.js';
import { nearestTools } from './nearest.js';
import { createPostings } from './postings.js';

describe('nearestTools', () => {
  it('FIND-5 tools of one name come by address, whichever server came first', () => {
    const postings = createPostings();
    const segments = ['s2', 's1'].map((server) => {
      const draft = createDraft();
      draft.add({ server, name: 'a_row' } as Tool, [['row'], [server], [], [], []]);
      return postings.add(draft);
    });
    const found = nearestTools('row', segments, 3, () => true);
    expect(found.map(({ server }) => server)).toEqual(['s1', 's2']);
  });
});
