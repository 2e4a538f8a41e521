import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.js';
import { plainArguments } from './meta-tools.js';
import { readToolArguments } from './tool-arguments.js';

const schema = (properties: JsonObject): JsonObject => ({ inputSchema: { type: 'object', properties } });
const text = { type: 'string' };
const address = { server: 's', tool: 't' };

describe('the arguments of execute_tool', () => {
  it('META-1 correctly placed arguments are passed on unchanged', () => {
    const args = { path: 'a' };
    expect(plainArguments({ ...address, arguments: args })).toBe(args);
    for (const odd of [{}, { arguments: null }, { arguments: '{}' }, { arguments: [] }, { arguments: {}, ms: 1 }]) {
      expect(plainArguments({ ...address, ...odd })).toBeUndefined();
    }
  });

  it('META-1 a parameter that is itself called "arguments" is never unwrapped', () => {
    const sent = { ...address, arguments: { arguments: { a: 1 } } };
    expect(readToolArguments(sent, schema({ arguments: { type: 'object' } }))).toEqual({
      arguments: { arguments: { a: 1 } },
      problems: [],
    });
    // The parameters of an unknown tool are unknown.
    expect(readToolArguments(sent, undefined).arguments).toEqual({ arguments: { a: 1 } });
    const mixed = { ...address, arguments: { arguments: { a: 1 }, b: 2 } };
    expect(readToolArguments(mixed, schema({ a: text, b: text })).arguments).toEqual({ arguments: { a: 1 }, b: 2 });
  });

  it('META-1 a parameter called like an alias belongs inside', () => {
    const { problems } = readToolArguments({ ...address, input: 'x' }, schema({ input: text }));
    expect(problems).toEqual([{ path: 'input', message: 'is outside of arguments: put input inside arguments' }]);
  });

  it('A28 long and many stray keys are named to a bound', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${'k'.repeat(500)}${i}`, i]));
    const { problems } = readToolArguments({ ...address, ...many }, schema({}));
    expect(problems.length).toBeLessThanOrEqual(12);
    expect(JSON.stringify(problems).length).toBeLessThan(3000);
    const deep = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
    expect(readToolArguments({ ...address, arguments: deep }, undefined).problems).toHaveLength(1);
  });
});
