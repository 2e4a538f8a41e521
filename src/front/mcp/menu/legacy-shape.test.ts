import { describe, expect, it } from 'vitest';
import { resultForLegacy, toolForLegacy } from './legacy-shape.js';

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

  it('META-6 a structured value that is no object is wrapped, and can be read as text', () => {
    const text = { type: 'text', text: 'two' };
    const object = { content: [], structuredContent: { n: 2 } };
    expect(resultForLegacy(object)).toBe(object);
    expect(resultForLegacy({ content: [text] })).toEqual({ content: [text] });
    expect(resultForLegacy({ content: [text], structuredContent: [1, 2] })).toEqual({
      content: [text],
      structuredContent: { result: [1, 2] },
    });
    const image = { type: 'image', data: '', mimeType: 'image/png' };
    expect(resultForLegacy({ content: [image], structuredContent: 2 })).toEqual({
      content: [image, { type: 'text', text: '2' }],
      structuredContent: { result: 2 },
    });
    expect(resultForLegacy({ structuredContent: null })).toEqual({
      content: [{ type: 'text', text: 'null' }],
      structuredContent: { result: null },
    });
  });
});
