import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarise } from './summary.js';

/** Any UTF-16 text, lone surrogates included. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 0xffff })), { maxLength: 300 })
  .map((codes) => String.fromCharCode(...codes));

describe('summarise', () => {
  it.each([
    ['Reads a file. Then more.', 'Reads a file'],
    ['Reads a file', 'Reads a file'],
    ['  \n Reads\n  a file. ', 'Reads a file'],
    ['Works with e.g. GitHub and v1.2 files. More.', 'Works with e.g. GitHub and v1.2 files'],
    ['# Title\n\nReads **a** `file`.', 'Reads a file'],
    ['## Only a heading', 'Only a heading'],
    ['See [the docs](https://x.y/z) for it.', 'See the docs for it'],
    ['This tool will list all issues.', 'List all issues'],
    ['This tool retrieves a list.', 'Retrieves a list'],
    ['Use this tool to fetch a page.', 'Fetch a page'],
    ['This tool is slow.', 'This tool is slow'],
    ['Acme - Api: This is the public Acme REST API. Updates a call.', 'Updates a call'],
    ['This is the public Acme API.', 'This is the public Acme API'],
    ['Lists things:\n- a\n- b', 'Lists things'],
    ['Short line\nAnother sentence here', 'Short line'],
    ['(Beta. Ask first.) Reads a file.', 'Reads a file'],
    ['<usecase>\nReads a file.</usecase>', 'Reads a file'],
    ['列出所有文件。更多。', '列出所有文件'],
    ['Reads\u200b a\u202e file\u0007.', 'Reads a file'],
    ['Re\u3164ads\u034f a\uffa0 fi\u115fle.', 'Reads a file'],
  ])('FIND-1 a summary is the first telling sentence: %#', (description, summary) => {
    expect(summarise(description, undefined, 'x')).toBe(summary);
  });

  it('FIND-1 falls back to the title, then to the name as words', () => {
    expect(summarise('', 'Read File', 'read_file')).toBe('Read File');
    expect(summarise(' \n ', undefined, 'get_userInfo')).toBe('Get user info');
    expect(summarise('---', '', 'listOAuthKeys')).toBe('List oauth keys');
  });

  it('FIND-1 drops a closing remark before it cuts, and cuts at a word', () => {
    const sentence = 'Fetches the call that is named by the given id from the account';
    expect(summarise(`${sentence} (uses the default account when none was given).`, undefined, 'x')).toBe(sentence);
    const long = summarise('word '.repeat(60), undefined, 'x');
    expect(long).toMatch(/word…$/);
    expect(long.length).toBeLessThanOrEqual(100);
  });

  it('FIND-1 any text gives one printable line of at most 100 characters', () => {
    fc.assert(
      fc.property(anyText, fc.string(), (description, name) => {
        const summary = summarise(description, undefined, name);
        expect(summary.length).toBeLessThanOrEqual(100);
        expect(summary).not.toMatch(/[\p{Cc}\u202e\u200b]/u);
      }),
      { numRuns: 500 },
    );
  });
});
