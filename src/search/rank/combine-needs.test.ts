import { describe, expect, it } from 'vitest';
import { describedTool as tool } from '../../../test/support/test-tool.js';
import { addressOf } from '../../kernel/ids.js';
import { createIndex, type Ranked, type ToolIndex } from '../search.js';

const TOOLS = [
  tool('github', 'create_issue', 'Create a new issue in a repository.'),
  tool('github', 'list_issues', 'List the issues of a repository.'),
  tool('github', 'close_issue', 'Close an issue of a repository.'),
  tool('github', 'update_issue', 'Update an issue of a repository.'),
  tool('slack', 'post_message', 'Post a message to a Slack channel.'),
  tool('slack', 'list_channels', 'List the Slack channels.'),
  tool('files', 'find_and_replace', 'Search and replace text in a file.'),
];

function sampleIndex(): ToolIndex {
  const index = createIndex();
  for (const server of ['github', 'slack', 'files']) {
    index.replace(
      server,
      TOOLS.filter((one) => one.server === server),
    );
  }
  return index;
}

const addressIn = ({ tool: { server, name } }: Ranked): string => addressOf(server, name);

describe('several needs in one query', () => {
  const both = 'create an issue in the repository and post a message to the channel';

  it('FIND-7 each hit says which need it answers, and every need has one', () => {
    const hits = sampleIndex().search(both);
    const needOf = (address: string): string | undefined => hits.find((hit) => addressIn(hit) === address)?.need;
    expect(needOf('github:create_issue')).toBe('create an issue in the repository');
    expect(needOf('slack:post_message')).toBe('post a message to the channel');
    expect(hits.every(({ need }) => need !== undefined)).toBe(true);
  });

  it('FIND-7 a short answer still has a tool for every need', () => {
    const needs = sampleIndex()
      .search(`${both} then search and replace text in the file`, { limit: 3 })
      .map((hit) => [addressIn(hit), hit.need]);
    expect(new Set(needs)).toEqual(
      new Set([
        ['github:create_issue', 'create an issue in the repository'],
        ['slack:post_message', 'post a message to the channel'],
        ['files:find_and_replace', 'search and replace text in the file'],
      ]),
    );
  });

  it('FIND-7 no need fills the answer: each has two of five', () => {
    const hits = sampleIndex().search('an issue of a repository; the Slack channels', { limit: 5 });
    const counts = ['an issue of a repository', 'the Slack channels'].map(
      (need) => hits.filter((hit) => hit.need === need).length,
    );
    expect(Math.min(...counts)).toBe(2);
  });

  it('FIND-1 FIND-7 hits stay sorted by relevance, and explained signals add up to it', () => {
    const hits = sampleIndex().search(both, { explain: true });
    const relevances = hits.map(({ relevance }) => relevance);
    expect(relevances).toEqual(relevances.toSorted((a, b) => b - a));
    for (const { relevance, explanation } of hits) {
      expect(relevance).toBeGreaterThanOrEqual(0);
      expect(relevance).toBeLessThanOrEqual(1);
      expect(explanation!.signals.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(relevance, 5);
    }
  });

  it('FIND-7 one need has no mark, and neither have needs that one tool answers', () => {
    const index = sampleIndex();
    for (const query of ['create an issue', 'search and replace', 'list issues; list the issues of a repository']) {
      expect(index.search(query).every((hit) => !('need' in hit))).toBe(true);
    }
  });

  it('FIND-7 FIND-1 each need is answered from the server that was asked for', () => {
    const hits = sampleIndex().search(both, { server: 'slack' });
    expect(new Set(hits.map(({ tool: { server } }) => server))).toEqual(new Set(['slack']));
  });
});
