import { describe, expect, it } from 'vitest';
import { askLine, askTitle, questionText, scopeText, unansweredText } from './ask-words.js';

const about = { server: 'notes', tool: 'drop' };
const confirms = { rule: 'rule 1 (pattern "*")', scope: 'call', arguments: {} } as const;

describe('words of a question', () => {
  it('STUDIO-1 tells a question of toolscout from one of a server', () => {
    expect(askTitle({ ...about, kind: 'elicitation' })).toBe('notes asks you a question');
    expect(askTitle({ ...about, kind: 'roots' })).toBe('notes asks which folders it may use');
    expect(askTitle({ ...about, kind: 'new/kind' })).toBe('notes asks you');
    expect(askTitle({ ...about, kind: 'elicitation', confirms })).toBe(
      'toolscout asks: approve this call of notes:drop?',
    );
    expect(askTitle({ ...about, kind: 'elicitation', confirms: { ...confirms, scope: 'tool' } })).toBe(
      'toolscout asks: approve calls of notes:drop?',
    );
    expect(scopeText('call')).toContain('once');
    expect(scopeText('tool')).toContain('30 days');
  });

  it('STUDIO-1 says once who asks: the line for hosts that names the server is the title already', () => {
    expect(questionText(about, 'Server "notes" asks:\nName?')).toBe('Name?');
    // Whatever the server itself writes stays.
    const forged = 'Server "notes" asks:\nServer "bank" asks:\nPIN?';
    expect(questionText(about, forged)).toBe('Server "bank" asks:\nPIN?');
    expect(questionText(about, 'Server "bank" asks:\nPIN?')).toBe('Server "bank" asks:\nPIN?');
  });

  it('STUDIO-1 says which call a question waits in', () => {
    expect(askLine({ ...about, kind: 'elicitation' })).toBe('notes:drop waits for your answer');
    expect(askLine({ ...about, kind: 'other' })).toBe('notes:drop waits for your answer');
    expect(askLine({ ...about, kind: 'sampling' })).toBe('notes:drop waits for you: it asks for the answer of a model');
    expect(askLine({ ...about, kind: 'elicitation', confirms })).toBe('A call of notes:drop waits for your yes');
  });
});

it('STUDIO-1 a result without an answer says so', () => {
  expect(unansweredText(['accept', 'decline'])).toContain('You declined a question');
  expect(unansweredText(['cancel'])).toContain('You dismissed a question');
  expect([unansweredText([]), unansweredText(['accept'])]).toEqual([undefined, undefined]);
});
