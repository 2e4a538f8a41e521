import { describe, expect, it } from 'vitest';
import { describedTool as tool } from '../../../test/support/test-tool.js';
import { createIndex } from '../search.js';

const KINDS = [
  'bar',
  'line',
  'pie',
  'radar',
  'scatter',
  'area',
  'funnel',
  'sankey',
  'venn',
  'treemap',
  'boxplot',
  'violin',
];
const charts = KINDS.map((kind) => tool('charts', `generate_${kind}_chart`, `Generate a ${kind} chart.`));

describe('diversity', () => {
  it('FIND-1 twelve near-twins of one server do not fill the answer when others fit too', () => {
    const index = createIndex();
    index.replace('charts', charts);
    index.replace('sheets', [tool('sheets', 'add_chart', 'Add a chart to a spreadsheet.')]);
    index.replace('slides', [tool('slides', 'insert_chart', 'Insert a chart into a slide, generated from data.')]);
    const hits = index.search('generate a chart', { limit: 10 });
    expect(hits).toHaveLength(10);
    expect(new Set(hits.map(({ tool: { server } }) => server))).toEqual(new Set(['charts', 'sheets', 'slides']));
    expect(hits.filter(({ tool: { server } }) => server === 'charts')).toHaveLength(8);
    for (const [i, hit] of hits.entries()) expect(hit.relevance).toBeLessThanOrEqual(hits[i - 1]?.relevance ?? 1);
  });

  describe('several servers that could do the same', () => {
    const COLOURS = ['red', 'green', 'blue', 'grey', 'pink', 'teal'];
    const many = COLOURS.map((colour) =>
      tool('Paintbox', `${colour}_post`, `Publish a post about ${colour} on the blog.`),
    );
    const index = createIndex();
    index.replace('Paintbox', many);
    for (const server of ['ghost', 'mirror', 'quill']) {
      index.replace(server, [tool(server, 'blog_post', `Publish a post on the blog of ${server}.`)]);
    }
    const serversOf = (query: string): string[] =>
      index.search(query, { limit: 5 }).map(({ tool: { server } }) => server);

    it('FIND-7 stand side by side, not one of them five times', () => {
      expect(new Set(serversOf('publish a post on the blog')).size).toBeGreaterThan(2);
    });

    it('FIND-7 does not hold back a server that the query names', () => {
      expect(serversOf('publish a post on the blog with Paintbox')).toEqual(
        Array.from({ length: 5 }, () => 'Paintbox'),
      );
    });

    it('FIND-7 FIND-1 changes nothing where one server is asked for', () => {
      const hits = index.search('publish a post on the blog', { server: 'Paintbox', limit: 10 });
      expect(hits).toHaveLength(many.length);
    });
  });

  it('FIND-1 nothing is hidden: where no other tool takes the place, all twins are listed', () => {
    const index = createIndex();
    index.replace('charts', charts);
    const hits = index.search('generate a chart', { limit: 20 });
    expect(hits.map(({ tool: { name } }) => name).toSorted()).toEqual(charts.map(({ name }) => name).toSorted());
  });

  it('FIND-1 one twin that is asked for by its own word stays first', () => {
    const index = createIndex();
    index.replace('charts', charts);
    for (const kind of KINDS) expect(index.search(`${kind} chart`)[0]!.tool.name).toBe(`generate_${kind}_chart`);
  });

  it('FIND-1 tools that many servers describe with the same words make room for another one', () => {
    const index = createIndex();
    for (let i = 0; i < 10; i++)
      index.replace(`copy${i}`, [tool(`copy${i}`, 'get_weather', 'Get the weather of a city.')]);
    index.replace('sky', [tool('sky', 'forecast', 'Weather of the next days in a city or town nearby.')]);
    const places = index.search('weather of a city', { limit: 10 }).map(({ tool: { server } }) => server);
    expect(places).toContain('sky');
    expect(places).toHaveLength(10);
  });

  it('FIND-1 the explanation of a tool that stepped back still adds up to its relevance', () => {
    const index = createIndex();
    index.replace('charts', charts);
    for (const { relevance, explanation } of index.search('generate a chart', { limit: 12, explain: true })) {
      expect(explanation!.signals.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(relevance);
    }
  });
});
