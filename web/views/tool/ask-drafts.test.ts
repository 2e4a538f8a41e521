import { describe, expect, it } from 'vitest';
import { createAskDrafts } from './ask-drafts.js';

describe('answers that are being written', () => {
  it('STUDIO-2 keeps the answer to each question apart until it is sent, and not more than it may', () => {
    const drafts = createAskDrafts(2);
    drafts.keep('a', { name: 'Ann' });
    drafts.keep('b', 'text');
    drafts.keep('a', { name: 'Ann draft' });
    expect([drafts.of('a'), drafts.of('b'), drafts.of('c')]).toEqual([{ name: 'Ann draft' }, 'text', undefined]);
    drafts.keep('c', 'newest');
    expect([drafts.of('a'), drafts.of('b'), drafts.of('c')]).toEqual([{ name: 'Ann draft' }, undefined, 'newest']);
    drafts.drop('a');
    expect(drafts.of('a')).toBeUndefined();
    drafts.clear();
    expect(drafts.of('c')).toBeUndefined();
  });
});
