import { describe, expect, it } from 'vitest';
import { createEventReader } from './event-lines.js';

describe('createEventReader', () => {
  it('STUDIO-1 reads events however they are cut into chunks', () => {
    const text =
      ': comment\n\nevent: progress\ndata: {"a":1}\n\ndata: one\ndata: two\r\n\r\nevent: result\ndata: {}\n\nevent: half';
    const expected = [
      { event: 'progress', data: '{"a":1}' },
      { event: 'message', data: 'one\ntwo' },
      { event: 'result', data: '{}' },
    ];
    for (const size of [1, 2, 7, text.length]) {
      const read = createEventReader();
      const found = [];
      for (let at = 0; at < text.length; at += size) found.push(...read(text.slice(at, at + size)));
      expect(found).toEqual(expected);
    }
  });
});
