import { describe, expect, it } from 'vitest';
import { describedTool } from '../../test/support/test-tool.js';
import { createAnalyzer, createTranslator } from './text/analysis.js';
import { createActions } from './words/actions.js';
import { nameValues, parseQuery } from './query.js';
import { createIndex } from './search.js';
import { createVocabulary } from './index/posting-lists.js';

/** What each word of a query counts where tools use some words. */
function weights(query: string, ...used: string[]): Record<string, number> {
  const vocabulary = createVocabulary();
  for (const term of used) vocabulary.addUses(vocabulary.intern(term), 1);
  const lists = { classes: new Map(), translator: createTranslator(), actions: createActions((word) => word) };
  const { own } = parseQuery(query, createAnalyzer(), vocabulary, lists, used.length);
  return Object.fromEntries(own.map(({ id, weight }) => [vocabulary.text(id), weight]));
}

describe('parseQuery', () => {
  it('FIND-1 the name of a product counts whole, its parts half', () => {
    const found = weights('open PowerPoint', 'open', 'powerpoint', 'power', 'point');
    expect(found).toEqual({ open: 1, powerpoint: 1, power: 0.5, point: 0.5 });
  });

  it('FIND-1 where no tool knows the whole name its parts count as words', () => {
    expect(weights('open PowerPoint', 'open', 'power', 'point')).toEqual({ open: 1, power: 1, point: 1 });
    expect(weights('power point', 'powerpoint', 'power', 'point')).toEqual({ power: 1, point: 1 });
  });

  it('FIND-1 a number counts half of a word, in every script', () => {
    expect(weights('top 10 within ٣ km', 'top', '10', '٣', 'km')).toEqual({ top: 1, 10: 0.5, '٣': 0.5, km: 1 });
  });
});

const wordsOf = (text: string): string => nameValues(text).replaceAll(/\s+/g, ' ').trim();

describe('values in a query', () => {
  it.each([
    ['get https://docs.stripe.com/refunds?x=1 as text', 'get docs.stripe.com url as text'],
    ['open (http://www.example.org:8080/a/b).', 'open ( example.org url ).'],
    ['read /srv/tickets/48812/notes.txt', 'read file path txt'],
    ['what is in ~/Downloads?', 'what is in directory folder ?'],
    ['write it to ./reports/', 'write it to ./reports/'],
    [String.raw`open C:\Users\ann\plan.docx now`, 'open file path docx now'],
    ['who changed refund.py last', 'who changed file path py last'],
    ['the street at 46.5197, 6.6323', 'the street at coordinates location'],
    ['is tom.b@fixit.co free', 'is free'],
  ])('FIND-1 are named by what they are: %s', (query, named) => {
    expect(wordsOf(query)).toBe(named);
  });

  it.each([
    'and/or',
    'lat/lon',
    '24/7',
    'node.js',
    'version 1.2.3',
    'at 8:30',
    'e.g. this',
    'vendor-x/erp-connector',
    '/ ',
    'a. b',
  ])('FIND-1 are not seen where there are none: %s', (query) => {
    expect(wordsOf(query)).toBe(query.trim());
  });

  it('FIND-4 a hostile query is read in linear time', () => {
    for (const part of ['/', '-', 'a', 'a/', 'a.', '@', 'a@', '~/', '1.11,', 'https://', '*.', '\\'])
      expect(typeof nameValues(part.repeat(2048))).toBe('string');
  });

  it('FIND-1 lead to the tools that take them, and their words mislead to none', () => {
    const index = createIndex();
    index.replace('files', [describedTool('files', 'read_file', 'Reads a file at a path.')]);
    index.replace('desk', [describedTool('desk', 'list_tickets', 'Lists tickets and their notes.')]);
    const [first] = index.search('show /srv/tickets/48812/notes.txt');
    expect(first?.tool.name).toBe('read_file');
  });
});
