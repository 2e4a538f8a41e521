import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLexicon, readBlocks, writeLexicon } from '../../../train/lexicon.js';
import { readAsset } from '../../kernel/package-file.js';
import { createAnalyzer, isStopWord } from '../text/analysis.js';
import { readLexicon } from './lexicon-data.js';
import { createLexicon } from './lexicon.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SOURCES = join(ROOT, 'train', 'lexicon');
const analyzer = createAnalyzer();
const stems = (text: string): string[] => analyzer.stems(text).map(({ term }) => term);

const SMALL = compileLexicon([
  [
    '# a comment',
    'send/post email/mail :: drop a line; get back to; let them know',
    'list disk usage/size :: what is eating my disk',
    'airtable :: spreadsheet',
    'chase up => send reminder',
  ].join('\n'),
]);

describe('the lexicon', () => {
  const lexicon = createLexicon(SMALL);

  it('FIND-7 a tool is about a concept when its words fill every slot, by its names or by its description', () => {
    expect(lexicon.conceptsOf(['send', 'email'], [])).toEqual({ named: [0], described: [] });
    expect(lexicon.conceptsOf(['send'], ['mail'])).toEqual({ named: [], described: [0] });
    expect(lexicon.conceptsOf(['send'], ['letter'])).toEqual({ named: [], described: [] });
    expect(lexicon.conceptsOf(['list', 'record', 'airtabl'], [])).toEqual({ named: [2], described: [] });
  });

  it('FIND-7 a query asks for a concept when the words of a phrase stand together in it', () => {
    expect(lexicon.asked(stems('please drop my landlord a line')).map(({ concept }) => concept)).toEqual([0]);
    const scattered = 'drop the table and then tell us about every one of the people who were standing in line';
    expect(lexicon.asked(stems(scattered))).toEqual([]);
    expect(lexicon.asked(stems('who is eating'))).toEqual([]);
    expect(lexicon.asked([])).toEqual([]);
  });

  it('FIND-7 a phrasal verb is read as plain words, also with a name between its parts', () => {
    expect(lexicon.rewrite(stems('chase Bob up'))).toEqual([{ at: 0, terms: stems('send reminder') }]);
    expect(lexicon.rewrite(stems('chase the cat that ran up'))).toEqual([]);
  });

  it('FIND-7 another form of a word is understood only where the asker says that words are inflected', () => {
    const lexicon = createLexicon(compileLexicon(['отправить => send\nписьмо => email']));
    const asked = ['отправьте', 'письма'];
    expect(lexicon.rewrite(asked)).toEqual([]);
    const found = lexicon.rewrite(asked, () => true);
    expect(found).toEqual([
      { at: 0, terms: ['send'] },
      { at: 1, terms: ['email'] },
    ]);
    expect(lexicon.rewrite(['отец', 'писк'], () => true)).toEqual([]);
  });

  it('FIND-4 reads what was written, and refuses every damaged file', () => {
    const bytes = writeLexicon(SMALL);
    expect(readLexicon(bytes)).toEqual(SMALL);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bad = bytes.slice();
        bad[at] = bad[at]! ^ change;
        expect(() => readLexicon(bad)).toThrow(
          expect.objectContaining({
            message: expect.stringMatching(
              /^The file assets\/lexicon\.bin of toolscout is damaged: [^.]+\.$/,
            ) as string,
            suggestion: 'Install toolscout again.',
          }),
        );
      }),
    );
    expect(() => readLexicon(bytes.subarray(0, 7))).toThrow(/lexicon\.bin of toolscout is damaged/);
  });

  it('FIND-6 the file that ships is what its sources give', () => {
    const made = writeLexicon(compileLexicon(readBlocks(SOURCES).map(({ text }) => text)));
    expect(Buffer.compare(made, readAsset('lexicon.bin')!)).toBe(0);
    expect(made.length).toBeLessThanOrEqual(600_000);
  });
});

describe('how the lexicon was written', () => {
  /** For each word that one development query has, and no recorded tool, that query. */
  function rareWords(): Map<string, number> {
    const lines = readFileSync(join(ROOT, 'test', 'fixtures', 'real-intents.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const folder = join(ROOT, 'test', 'fixtures', 'catalog');
    const recorded = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    const known = new Set(recorded.flatMap((text) => stems(text)));
    const holders = new Map<string, Set<number>>();
    for (const [i, line] of lines.entries()) {
      const { query } = JSON.parse(line) as { query: string };
      for (const { text, term } of analyzer.stems(query)) {
        if (!/^[a-z]{4,}$/.test(text) || isStopWord(text) || known.has(term)) continue;
        holders.set(term, (holders.get(term) ?? new Set()).add(i));
      }
    }
    return new Map([...holders].filter(([, all]) => all.size === 1).map(([term, all]) => [term, [...all][0]!]));
  }

  it('FIND-6 phrases of the lexicon are not taken from the development queries: they share none of their rare words but by chance', () => {
    const rare = rareWords();
    expect(rare.size).toBeGreaterThan(100);
    const blocks = readBlocks(SOURCES).filter(({ name }) => name < '51');
    const phrases = blocks.flatMap(({ text }) =>
      text.split('\n').flatMap((line) => (line.split('::')[1] ?? line.split('=>')[0] ?? '').split(';')),
    );
    const shared = phrases.map((phrase) => {
      const queries = [...new Set(stems(phrase))].map((term) => rare.get(term)).filter((query) => query !== undefined);
      return queries.length - new Set(queries).size;
    });
    // One such word is English. Two of one query may be a fixed expression (gift card), if that is seldom; three are a copy.
    expect(phrases.filter((_, i) => shared[i]! > 1)).toEqual([]);
    expect(shared.filter((count) => count > 0).length / phrases.length).toBeLessThan(0.001);
  });

  it('FIND-6 the block that is younger than the fresh intents shares no two telling words of a phrase with any of them', () => {
    const folder = join(ROOT, 'bench', 'retrieval', 'intents');
    const files = ['open', 'open-2', 'sealed', 'sealed-2'].map((name) => join(folder, `${name}.jsonl`));
    const told = (text: string): Set<string> =>
      new Set(
        analyzer
          .stems(text)
          .filter((word) => !isStopWord(word.text) && word.text.length > 2)
          .map(({ term }) => term),
      );
    const queries = files
      .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
      .map((line) => told((JSON.parse(line) as { query: string }).query));
    expect(queries.length).toBeGreaterThan(500);
    const { text } = readBlocks(SOURCES).find(({ name }) => name.startsWith('19-'))!;
    const phrases = text.split('\n').flatMap((line) => (line.split('::')[1] ?? '').split(';'));
    const copied = phrases.filter((phrase) => {
      const words = [...told(phrase)];
      return queries.some((query) => words.filter((word) => query.has(word)).length > 1);
    });
    expect(copied).toEqual([]);
  });
});
