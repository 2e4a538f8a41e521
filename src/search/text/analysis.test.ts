import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnalyzer, splitSentence, splitWords } from './analysis.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { codePoint } from '../../../test/support/any-text.js';

describe('splitWords', () => {
  it.each([
    ['createIssue', ['create', 'issue']],
    ['create_issue', ['create', 'issue']],
    ['create-issue.v2/list', ['create', 'issue', 'v', '2', 'list']],
    ['HTTPServer', ['http', 'server']],
    ['getURLs', ['get', 'urls']],
    ['listIDs', ['list', 'ids']],
    ['base64Encode', ['base', '64', 'encode']],
    ['S3Bucket', ['s', '3', 'bucket']],
    ['TwilioApiV2010--FetchCall', ['twilio', 'api', 'v', '2010', 'fetch', 'call']],
    ['Crème brûlée', ['creme', 'brulee']],
    ['Größe Łódź œuvre', ['grosse', 'lodz', 'oeuvre']],
    ['ｆｉｌｅ ﬁnder', ['file', 'finder']],
    ['получитьФайл', ['получить', 'фаил']],
    ['हिन्दी', ['हिन्दी']],
    ['搜索网页', ['搜索', '索网', '网页']],
    ['ファイルを読む', ['ファ', 'ァイ', 'イル', 'ルを', 'を読', '読む']],
    ['图', ['图']],
    ['search 天气 now', ['search', '天气', 'now']],
    ['  …!? \u0000', []],
  ])('FIND-4 splits %j', (text, expected) => {
    expect(splitWords(text)).toEqual(expected);
  });

  it('FIND-4 composed and decomposed text give the same words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(splitWords(text.normalize('NFD'))).toEqual(splitWords(text.normalize('NFC')));
      }),
    );
  });

  it('FIND-4 words are bounded and never hold a separator, whatever the bytes', COMPUTES_LONG, () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 300 }), (text) => {
        for (const word of splitSentence(text)) {
          expect(word.length).toBeGreaterThan(0);
          expect(word.length).toBeLessThanOrEqual(200);
          expect(word).not.toMatch(/[\s_\-./:]/);
        }
      }),
    );
  });
});

describe('createAnalyzer', () => {
  const analyzer = createAnalyzer();

  it('FIND-4 drops the chatter of a sentence and keeps its words as they were written', () => {
    expect(analyzer.words('Could you please list the open issues?')).toEqual([
      { text: 'list', term: 'list' },
      { text: 'open', term: 'open' },
      { text: 'issues', term: 'issu' },
    ]);
  });

  it('FIND-4 keeps stop words where there is nothing else', () => {
    expect(analyzer.nameTerms('who_am_i')).toEqual(['who', 'am', 'i']);
  });

  it('FIND-4 a product name in a sentence is found in both spellings', () => {
    expect(analyzer.terms('Search GitHub')).toEqual(['search', 'git', 'hub', 'github']);
    expect(analyzer.nameTerms('searchGitHub')).toEqual(['search', 'git', 'hub']);
  });

  it('FIND-4 forgetting remembered stems changes nothing', () => {
    const words = Array.from({ length: 20_000 }, (_, i) => `word${'abcdefghij'[i % 10]}${String(i)}ing`);
    for (const word of words) analyzer.terms(word);
    expect(analyzer.terms('listings')).toEqual(['list']);
  });
});
