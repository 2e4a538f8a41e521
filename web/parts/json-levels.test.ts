import { describe, expect, it } from 'vitest';
import { levelsToOpen } from './json-levels.js';

describe('how far a JSON value is open at first', () => {
  it('STUDIO-3 the arguments of a call and the text of its answer are read without a click', () => {
    const request = { name: 'execute_tool', arguments: { server: 'a', tool: 'b', arguments: { path: 'x' } } };
    expect(levelsToOpen(request)).toBe(3);
    expect(levelsToOpen({ content: [{ type: 'text', text: 'hello' }] })).toBe(3);
  });

  it('STUDIO-3 a long value stays folded, and none is opened without end', () => {
    const tools = Array.from({ length: 40 }, (_, at) => ({ name: `t${at}`, inputSchema: { type: 'object' } }));
    expect(levelsToOpen({ tools })).toBe(2);
    let deep: object = {};
    for (let at = 0; at < 50; at++) deep = { deep };
    expect(levelsToOpen(deep as never)).toBe(12);
    expect(levelsToOpen('text')).toBe(2);
  });
});
