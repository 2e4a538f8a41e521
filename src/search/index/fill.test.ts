import { describe, expect, it } from 'vitest';
import { describedTool as tool } from '../../../test/support/test-tool.js';
import { addressOf } from '../../kernel/ids.js';
import type { Tool } from '../../model/tool.js';
import { createIndex, type Ranked, type ToolIndex } from '../search.js';

const addresses = (hits: readonly Ranked[]): string[] => hits.map((hit) => addressOf(hit.tool.server, hit.tool.name));

function sampleIndex(): ToolIndex {
  const index = createIndex();
  index.replace('files', [tool('files', 'read_file', 'Read the contents of a file.')]);
  return index;
}

describe('filling', () => {
  it('FIND-3 filling in slices shows all that was there before, then all that is new, and never a part', async () => {
    const many = (version: string): Tool[] =>
      Array.from({ length: 200 }, (_, i) => tool('big', `tool_${version}_${i}`, `does thing ${i}`));
    const index = sampleIndex();
    index.replace('big', many('old'));
    const seen = new Set<string>();
    let running = true;
    const watch = (): void => {
      const names = index.tools('big').map(({ name }) => name.split('_')[1]);
      seen.add(`${[...new Set(names)].join(' ')} ${names.length}`);
      if (running) setImmediate(watch);
    };
    watch();
    expect(await index.fill('big', many('new'))).toBe(true);
    watch();
    running = false;
    expect([...seen]).toEqual(['old 200', 'new 200']);
    const fresh = sampleIndex();
    fresh.replace('big', many('new'));
    expect(addresses(index.search('thing 7'))).toEqual(addresses(fresh.search('thing 7')));
  });

  it('FIND-3 what began to be filled earlier never takes the place of what came later', async () => {
    const index = createIndex();
    const many = Array.from({ length: 100 }, (_, i) => tool('a', `old_${i}`));
    const slow = index.fill('a', many);
    expect(await index.fill('a', [tool('a', 'later')])).toBe(true);
    expect(await slow).toBe(false);
    expect(index.tools('a').map(({ name }) => name)).toEqual(['later']);
    for (const change of [(): void => index.remove('a'), (): void => index.replace('a', [tool('a', 'put')])]) {
      const overtaken = index.fill('a', many);
      change();
      const now = index.tools('a');
      expect(await overtaken).toBe(false);
      expect(index.tools('a')).toEqual(now);
    }
  });
});

describe('the server of a tool', () => {
  it('FIND-1 of two tools that look alike the one comes first whose server is about the matter', () => {
    const index = createIndex();
    const convert = (server: string): Tool => tool(server, 'convert', 'Convert a document.');
    index.replace('aaa', [convert('aaa'), tool('aaa', 'sing', 'Sing a song.'), tool('aaa', 'dance', 'Dance.')]);
    index.replace('zzz', [
      convert('zzz'),
      tool('zzz', 'merge', 'Merge PDF pages.'),
      tool('zzz', 'split', 'Split a PDF.'),
    ]);
    expect(addresses(index.search('convert pages of a PDF'))[0]).toBe('zzz:convert');
  });
});
