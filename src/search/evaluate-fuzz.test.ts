import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readRecordedServers } from '../../test/support/offline-gateway.js';
import { testTool } from '../../test/support/test-tool.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';
import { createIndex, type Ranked, type ToolIndex } from './search.js';

/** Numbers in [0,1) that are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** First and last letters of scripts a query may be written in; the last rows are halves, marks and controls. */
const SCRIPTS: ReadonlyArray<readonly [number, number]> = [
  [0x20, 0x7e],
  [0xc0, 0x24f],
  [0x370, 0x3ff],
  [0x400, 0x52f],
  [0x531, 0x587],
  [0x5d0, 0x5ea],
  [0x620, 0x6ff],
  [0x904, 0x97f],
  [0xe01, 0xe5b],
  [0x10a0, 0x10ff],
  [0x1200, 0x137f],
  [0x3041, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0x1f300, 0x1faff],
  [0x1d400, 0x1d7ff],
  [0x300, 0x36f],
  [0x200b, 0x206f],
  [0xd800, 0xdfff],
  [0x00, 0x1f],
];

function recordedIndex(): ToolIndex {
  const index = createIndex();
  const folder = fileURLToPath(new URL('../../test/fixtures/catalog', import.meta.url));
  for (const { id, tools } of readRecordedServers(folder)) {
    const asTools = tools.map((definition) =>
      testTool(id, String(definition['name']), { description: String(definition['description'] ?? ''), definition }),
    );
    index.replace(id, asTools);
  }
  return index;
}

/** What holds of every answer, whatever was asked; one check a query keeps thousands of them cheap. */
function isSound(hits: readonly Ranked[], limit: number): boolean {
  return (
    hits.length <= limit &&
    hits.every(({ relevance }, i) => relevance >= 0 && relevance <= 1 && relevance <= (hits[i - 1]?.relevance ?? 1)) &&
    new Set(hits.map(({ tool }) => `${tool.server}:${tool.name}`)).size === hits.length
  );
}

describe('any bytes as a query', () => {
  const index = recordedIndex();

  it('FIND-4 strings of random bytes are answered soundly', COMPUTES_LONG, () => {
    const random = createRandom(1);
    const unsound: string[] = [];
    const count = repetitions(1500, 10_000);
    for (let i = 0; i < count; i += 1) {
      const bytes = Buffer.from(Array.from({ length: Math.floor(random() * 64) }, () => Math.floor(random() * 256)));
      const query = bytes.toString(i % 2 === 0 ? 'utf8' : 'latin1');
      if (!isSound(index.search(query, { limit: 5 }), 5)) unsound.push(JSON.stringify(query));
    }
    expect(unsound).toEqual([]);
    expect(index.size).toBeGreaterThan(50);
  });

  it.each(SCRIPTS)('FIND-4 two kilobytes of the letters from %i to %i are answered soundly', (from, to) => {
    const random = createRandom(from);
    for (let round = 0; round < 5; round += 1) {
      let query = '';
      while (Buffer.byteLength(query) < 2048) {
        const length = 1 + Math.floor(random() * 12);
        for (let i = 0; i < length; i += 1)
          query += String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
        query += ' ';
      }
      expect(isSound(index.search(query), 10)).toBe(true);
      expect(index.nearest(query).length).toBeLessThanOrEqual(3);
    }
  });

  it('FIND-4 what stands after two kilobytes changes nothing', () => {
    const long = 'read a file '.repeat(200);
    const addresses = (query: string): string[] => index.search(query).map(({ tool }) => `${tool.server}:${tool.name}`);
    expect(addresses(`${long} zebra delete`)).toEqual(addresses(long));
    expect(addresses(long).length).toBeGreaterThan(0);
  });
});
