import { describe, expect, it } from 'vitest';
import { describedTool } from '../../../test/support/test-tool.js';
import { writeVectors } from '../../../train/format.js';
import { readAsset } from '../../kernel/package-file.js';
import { createIndex, type ToolIndex } from '../search.js';
import { FEATURES, type RankingModel } from './rank.js';
import { readModel } from './model.js';
import { readVectors, type WordVectors } from '../words/vector-file.js';

/** Words in two directions: vehicles and food. */
const vectors = readVectors(
  writeVectors(
    ['car', 'automobil', 'vehicl', 'bread', 'loaf'],
    Float32Array.from([1, 0, 1, 0.1, 0.9, 0, 0, 1, 0.1, 1]),
    2,
  ),
);
const shipped = readModel(readAsset('ranking.json')!);

function filled(knowledge: { vectors?: WordVectors; model?: RankingModel }): ToolIndex {
  const index = createIndex(() => knowledge);
  index.replace('garage', [describedTool('garage', 'automobile')]);
  index.replace('bakery', [describedTool('bakery', 'loaf')]);
  return index;
}

describe('tools that share no word with the need', () => {
  it.each([
    ['with learned weights', { vectors, model: shipped }],
    ['without', { vectors }],
  ])('FIND-7 are found by what their words mean, %s', (_, knowledge) => {
    const hits = filled(knowledge).search('car');
    expect(hits.map(({ tool }) => tool.name)).toEqual(['automobile']);
    expect(hits[0]!.relevance).toBeGreaterThan(0);
    expect(hits[0]!.terms).toEqual([]);
  });

  it('FIND-7 are not found by words alone, or when nothing is near', () => {
    expect(filled({}).search('car')).toEqual([]);
    expect(filled({ vectors }).search('qwrtz')).toEqual([]);
  });

  it('FIND-7 of a long query the clause that means a tool counts, not only all of it', () => {
    const { tools, rows } = filled({ vectors }).candidates('automobile red fast small old, loaf warm soft white new');
    const at = (tool: string, feature: string): number =>
      rows[
        tools.findIndex(({ name }) => name === tool) * FEATURES.length +
          FEATURES.findIndex(({ name }) => name === feature)
      ]!;
    for (const tool of ['automobile', 'loaf']) {
      expect(at(tool, 'meaning')).toBeLessThan(0.85);
      expect(at(tool, 'clause meaning')).toBeGreaterThan(0.95);
    }
  });

  it('FIND-7 are looked for within the server that is asked for', () => {
    const index = filled({ vectors, model: shipped });
    expect(index.search('car', { server: 'garage' }).map(({ tool }) => tool.name)).toEqual(['automobile']);
  });

  it('FIND-7 stay behind what was narrowed away', () => {
    const index = filled({ vectors, model: shipped });
    expect(index.search('car', { server: 'bakery' })).toEqual([]);
    expect(index.search('car', { accepts: () => false })).toEqual([]);
  });

  it('FIND-6 an index without the files reads a query into the same terms: what one process remembers another understands', () => {
    const query = 'the car with fresh loaves';
    expect(filled({}).terms(query)).toEqual(filled({ vectors, model: shipped }).terms(query));
  });

  it('FIND-8 an encoder moves what it finds nearer to the front, and explain says so', () => {
    for (const knowledge of [{ vectors, model: shipped }, { vectors }]) {
      const index = filled(knowledge);
      index.replace('shop', [describedTool('shop', 'automobile')]);
      const nearest = (server: string): string | undefined =>
        index
          .search('automobile', { explain: true }, undefined, (tool) => (tool.server === server ? 0.9 : 0.1))
          .map(({ tool }) => tool.server)[0];
      expect([nearest('shop'), nearest('garage')]).toEqual(['shop', 'garage']);
      const [hit] = index.search('automobile', { explain: true }, undefined, () => 0.5);
      expect(hit!.explanation!.signals.map(({ name }) => name)).toContain('encoder');
    }
  });

  it('FIND-4 scales that are no numbers are refused', () => {
    const bytes = writeVectors(['car'], Float32Array.from([Number.POSITIVE_INFINITY, 1]), 2);
    expect(() => readVectors(bytes)).toThrow(/damaged/);
  });
});
