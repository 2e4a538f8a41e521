import { describe, expect, it } from 'vitest';
import { heldReason } from '../../text/advice.js';
import { answerWord, disabledIn, exampleOf, heldTitle, notSearched } from './search-words.js';

describe('words of a search', () => {
  it.each([
    ['{"hits":[1,2]}', 2, 'the answer'],
    ['{"hits":[1,2]}', 9, 'the best 2 of 9 tools'],
    ['declare const tools', 9, 'the answer'],
    ['{}', 9, 'the answer'],
  ])('STUDIO-1 says what an agent gets of what the page found: %s of %i', (text, found, word) => {
    expect(answerWord(text, found)).toBe(word);
  });

  it('STUDIO-1 says why a tool is held back, with rules numbered as on their view', () => {
    expect([heldTitle(1), heldTitle(3)]).toEqual([
      'One tool fits that agents do not get.',
      '3 tools fit that agents do not get.',
    ]);
    const about = { server: 'files', tool: 'write' };
    expect(heldReason({ ...about, reason: '"files:write" is disabled by rule 1 (pattern "*").' })).toBe(
      'is disabled by rule 1 (pattern "*").',
    );
  });

  it('STUDIO-1 offers searches that find something: what tools say of themselves', () => {
    const tool = (summary: string, status = 'enabled') => ({ summary, status });
    expect(
      exampleOf([tool('Read the secret', 'disabled'), tool('x'), tool('Adds two numbers. Returns the sum.')]),
    ).toBe('adds two numbers');
    expect(exampleOf([tool('y'.repeat(80))])).toBeUndefined();
  });

  it('STUDIO-1 a server that fails is not said to learn while it is tried again', () => {
    const servers = [{ id: 'broken', problem: 'It exited.' }, { id: 'young' }];
    expect(notSearched({ unavailable: [], learning: ['broken', 'young'] }, servers)).toEqual({
      unavailable: [{ server: 'broken', reason: 'It exited.' }],
      learning: ['young'],
    });
  });

  it('STUDIO-1 names the disabled servers that a search leaves out', () => {
    const servers = [
      { id: 'files', enabled: false },
      { id: 'notes', enabled: true },
    ];
    expect([disabledIn(servers, ''), disabledIn(servers, 'files'), disabledIn(servers, 'notes')]).toEqual([
      ['files'],
      ['files'],
      [],
    ]);
  });
});
