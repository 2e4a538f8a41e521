import { describe, expect, it } from 'vitest';
import { describedTool } from '../../../test/support/test-tool.js';
import type { Tool } from '../../model/tool.js';
import { createAnalyzer } from '../text/analysis.js';
import { createDraft } from './draft.js';
import { FIELDS, termsOf } from './fields.js';
import { createPostings } from './postings.js';
import { averageLength } from '../rank/score.js';
import { createIndex } from '../search.js';

const tool = (name: string, description: string): Tool => describedTool('web', name, description);
const REST = FIELDS.findIndex(({ name }) => name === 'tags and rest of the description');

/** A beginning that fills what is read as such. */
const BEGINNING = 'Read one page of a site. '.padEnd(600, 'Page of a site. ').slice(0, 599);

describe('the tags of a tool', () => {
  const tagged = (name: string, description: string, tags: readonly string[]): Tool => ({
    ...tool(name, description),
    tags: [...tags],
  });

  it('FIND-7 find it by a word that stands nowhere else', () => {
    const index = createIndex();
    index.replace('web', [tagged('read_page', 'Reads a page.', ['team:payments', 'onCall']), tool('feed', 'Feeds.')]);
    for (const query of ['payments', 'payment tools', 'on call']) {
      expect(index.search(query).map((hit) => hit.tool.name)).toEqual(['read_page']);
    }
  });

  it('FIND-7 count besides what the description says', () => {
    const index = createIndex();
    const text = 'Sends an invoice.';
    index.replace('web', [tagged('a_send', text, []), tagged('b_send', text, ['invoice'])]);
    expect(index.search('invoice').map((hit) => hit.tool.name)).toEqual(['b_send', 'a_send']);
  });

  it('FIND-3 are read to a bound', () => {
    const many = Array.from({ length: 1000 }, (_, at) => `tag${at}`);
    const fields = termsOf(tagged('t', '', many), [], createAnalyzer());
    expect(fields[REST]!.length).toBeLessThan(200);
  });
});

describe('the rest of a long description', () => {
  it('FIND-1 finds by a word that stands only there, below a word that the beginning holds', () => {
    const index = createIndex();
    index.replace('web', [tool('read_page', `${BEGINNING} Also reads a quokka.`), tool('feed', 'Feeds a quokka.')]);
    expect(index.search('quokka').map((hit) => hit.tool.name)).toEqual(['feed', 'read_page']);
    const [, hit] = index.search('quokka', { explain: true });
    expect(hit?.explanation?.terms[0]?.fields).toEqual(['tags and rest of the description']);
  });

  it('FIND-1 gives words that are new, each once', () => {
    const fields = termsOf(
      tool('read_page', `${BEGINNING} Page, web, read: quokka and quokkas.`),
      ['web'],
      createAnalyzer(),
    );
    // The concepts of the lexicon are added to these.
    expect(fields).toHaveLength(FIELDS.length - 1);
    expect(fields[REST]).toEqual(['quokka']);
  });

  it('FIND-3 is read to a bound', () => {
    const index = createIndex();
    index.replace('web', [tool('read_page', `${`${BEGINNING} `.repeat(2)}wombat`)]);
    expect(index.search('wombat')).toEqual([]);
    expect(termsOf(tool('short', 'Read a page.'), [], createAnalyzer())[REST]).toEqual([]);
  });

  it('FIND-1 is long or short among those that there are, and forgotten with them', () => {
    const postings = createPostings();
    const draft = createDraft();
    const none: string[][] = FIELDS.map(() => []);
    for (let i = 0; i < 9; i++) draft.add(tool(`t${i}`, ''), none.with(0, [`t${i}`]));
    draft.add(tool('long', ''), none.with(0, ['long']).with(REST, ['a', 'b', 'c', 'd']));
    const segment = postings.add(draft);
    expect(averageLength(REST, postings)).toBe(4);
    expect(averageLength(0, postings)).toBe(1);
    postings.remove(segment);
    expect(averageLength(REST, postings)).toBe(0);
  });
});
