import { describe, expect, it } from 'vitest';
import type { RulesPreview } from '../../api/types.js';
import {
  allowListText,
  effectNote,
  chosenEffect,
  effectWord,
  effectWords,
  exceptionText,
  patternOf,
  patternText,
  previewText,
} from './rule-words.js';

const tools = (count: number) => ({ count, tools: [] });
const none = {
  enables: tools(0),
  disables: tools(0),
  tags: tools(0),
  confirms: tools(1),
  waiting: tools(0),
} as unknown as RulesPreview['rules'][number];
const preview = (on: number, off: number, count: number, enabled: boolean, waiting = 0): RulesPreview =>
  ({
    changed: { on: tools(on), off: tools(off), waiting: tools(0) },
    undecided: { ...tools(count), enabled, waiting: tools(waiting) },
  }) as unknown as RulesPreview;

describe('words of rules', () => {
  it('STUDIO-1 every rule can be made one that asks for a confirmation', () => {
    expect(effectWords({})).toEqual(['enabled', 'disabled', 'confirmed first', 'only tagged']);
    expect(effectWords({ confirm: false })).toContain('not confirmed');
    expect(chosenEffect('confirmed first', {})).toEqual({ enabled: undefined, confirm: true });
    expect(chosenEffect('confirmed first', { confirm: 'once' })).toMatchObject({ confirm: 'once' });
    expect(chosenEffect('only tagged', { confirm: true })).toEqual({ enabled: undefined, confirm: undefined });
    expect(chosenEffect('disabled', { confirm: true })).toEqual({ enabled: false });
    expect([true, false].map((enabled) => effectWord({ enabled, confirm: true }))).toEqual(['enabled', 'disabled']);
  });

  it('STUDIO-1 a rule that asks for a confirmation is not one that does nothing', () => {
    expect(effectNote({}, none)).toBe('decides about no tool');
    expect(effectNote({ confirm: true }, none)).toBe('a person confirms every call');
    expect(effectNote({ confirm: true }, { ...none, confirms: tools(0) } as never)).toBe(
      'a person confirms every call; no offered tool fits',
    );
    expect(effectNote({ confirm: 'once' }, none)).toBe('a person confirms the first call of each caller');
    expect(effectNote({ confirm: false }, none)).toBe('no later rule asks for a confirmation');
    expect(effectNote({ confirm: { when: 'id > `7`' } }, none)).toBe('a person confirms calls whose arguments fit');
    expect(effectNote({}, { ...none, disables: tools(2) } as never)).toBeUndefined();
    expect([{}, { confirm: true }, { confirm: false }].map(effectWord)).toEqual([
      'only tagged',
      'confirmed first',
      'not confirmed',
    ]);
  });

  it('STUDIO-1 says why one rule that enables turns other tools off, and what to do instead', () => {
    const off = preview(1, 17, 17, false);
    expect(allowListText([{ enabled: true }], off)).toContain('make an exception for it');
    expect(allowListText([{ enabled: false }], off)).toContain('only tools that a rule enables');
    expect(allowListText([{ enabled: true }], preview(0, 0, 3, true))).toBe('');
  });

  it('STUDIO-1 PAT-1 reads the names of a rule from one line, commas of a glob or a regex included', () => {
    expect(patternOf('')).toBe('');
    expect(patternOf(' a* ')).toBe('a*');
    expect(patternOf('a, !b')).toEqual(['a', '!b']);
    expect(patternOf('a,')).toEqual(['a', '']);
    expect(patternOf('{a,b}*, !c')).toEqual(['{a,b}*', '!c']);
    expect(patternOf('[a,b], /x{1,2}\\/,/i, !/y,z/')).toEqual(['[a,b]', '/x{1,2}\\/,/i', '!/y,z/']);
    expect(patternOf('s:a/b, c')).toEqual(['s:a/b', 'c']);
    expect(patternOf(String.raw`a\,b, c`)).toEqual([String.raw`a\,b`, 'c']);
    for (const pattern of ['{a,b}', ['a*', '!s:x'], '/a,b/'] as const) {
      expect(patternOf(patternText({ pattern: pattern as string }))).toEqual(pattern);
    }
  });

  it('STUDIO-1 says what an exception does', () => {
    expect(exceptionText('a:b', [], [])).toBe('a:b is offered by these rules already.');
    expect(exceptionText('a:b', [{ pattern: 'b' }], [])).toContain('every other tool stays as it is');
  });

  it('STUDIO-1 says what the rules amount to', () => {
    expect(previewText(preview(1, 2, 9, true), true)).toBe('Compared with now: 1 tool more, 2 tools fewer.');
    expect(previewText(preview(0, 0, 1, true), false)).toBe('1 tool that no rule turns on or off is offered.');
    expect(previewText(preview(0, 0, 71, true, 2), false)).toBe(
      '71 tools that no rule turns on or off are offered; 2 more tools wait for approval.',
    );
    expect(previewText(preview(0, 0, 9, false), false)).toBe('9 tools that no rule turns on or off are not offered.');
    expect([patternText({ pattern: 'a' }), patternText({ pattern: ['a', 'b'] })]).toEqual(['a', 'a, b']);
  });
});
