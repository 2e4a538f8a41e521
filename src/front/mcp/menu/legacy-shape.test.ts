import { describe, expect, it } from 'vitest';
import { toolForLegacy } from './legacy-shape.js';

describe('what a host before 2026-07-28 gets', () => {
  it('META-6 a tool whose output is no object loses the schema of it, and nothing else', () => {
    const plain = { name: 'a', inputSchema: { type: 'object' } };
    const described = { ...plain, outputSchema: { type: 'object', properties: {} } };
    expect(toolForLegacy(plain)).toBe(plain);
    expect(toolForLegacy(described)).toBe(described);
    for (const outputSchema of [{ type: 'array' }, { anyOf: [] }, true, null]) {
      expect(toolForLegacy({ ...plain, outputSchema })).toEqual(plain);
    }
  });
});
