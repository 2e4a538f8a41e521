import { describe, expect, it } from 'vitest';
import { examplesOf } from './examples.js';

describe('examplesOf', () => {
  it('CLI-1 reads the examples of a definition and of its schema, with or without a description', () => {
    expect(examplesOf({ name: 'x' })).toEqual([]);
    expect(
      examplesOf({
        name: 'x',
        examples: [{ description: 'One issue', arguments: { id: 1 } }, 'no object', { input: { id: 2 } }],
        input_examples: [{ id: 3 }],
        inputSchema: { type: 'object', examples: [{ id: 4 }, null] },
      }),
    ).toEqual([
      { description: 'One issue', arguments: { id: 1 } },
      { arguments: { id: 2 } },
      { arguments: { id: 3 } },
      { arguments: { id: 4 } },
    ]);
    expect(examplesOf({ examples: Array.from({ length: 50 }, (_, id) => ({ id })) })).toHaveLength(10);
    expect(examplesOf({ examples: 'x', inputSchema: [] })).toEqual([]);
  });
});
