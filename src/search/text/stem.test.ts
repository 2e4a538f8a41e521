import { describe, expect, it } from 'vitest';
import { stem } from './stem.js';

describe('stem', () => {
  it.each([
    ['consistency', 'consist'],
    ['consolation', 'consol'],
    ['knightly', 'knight'],
    ['generously', 'generous'],
    ['generate', 'generat'],
    ['communication', 'communic'],
    ['relational', 'relat'],
    ['conditional', 'condit'],
    ['hopping', 'hop'],
    ['hoping', 'hope'],
    ['falling', 'fall'],
    ['agreed', 'agre'],
    ['happy', 'happi'],
    ['cries', 'cri'],
    ['ties', 'tie'],
    ['say', 'say'],
    ['enjoying', 'enjoy'],
    ['youth', 'youth'],
    ['gas', 'gas'],
    ['caresses', 'caress'],
    ['status', 'status'],
    ['proceed', 'proceed'],
    ['skies', 'sky'],
    ['analogies', 'analog'],
    ['formative', 'format'],
    ['electrical', 'electr'],
    ['replacement', 'replac'],
    ['adoption', 'adopt'],
    ['controlling', 'control'],
    ['rate', 'rate'],
    ['cease', 'ceas'],
    ['bed', 'bed'],
    ['using', 'use'],
  ])('FIND-4 %s becomes %s', (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  it.each([
    ['list', 'lists', 'listing', 'listed'],
    ['create', 'creates', 'creating', 'created'],
    ['repository', 'repositories'],
    ['query', 'queries', 'querying', 'queried'],
    ['issue', 'issues'],
    ['deploy', 'deploys', 'deployed', 'deployment', 'deployments'],
  ])('FIND-4 the forms of %s share one stem', (...forms) => {
    expect(new Set(forms.map(stem)).size).toBe(1);
  });

  it('FIND-4 a word of other letters is its own stem', () => {
    for (const word of ['файлы', '2024', 'a', 'straße', '']) expect(stem(word)).toBe(word);
  });
});
