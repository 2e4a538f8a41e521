import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exposedName, exposedUri, readName, readUri } from './names.js';
import { repetitions } from '../../../../test/support/long-form.js';
import { codePoint } from '../../../../test/support/any-text.js';

const part = fc.oneof(
  fc.stringMatching(/^[a-z_]{1,8}$/),
  // Without a size only short texts are made.
  fc.stringMatching(/^[A-Za-z0-9_-]{1,70}$/, { size: 'max' }),
  fc.string({ minLength: 1, maxLength: 80, unit: codePoint, size: 'max' }),
);

describe('names of what is passed through', () => {
  it('META-5 a tool is named server__tool', () => {
    expect(exposedName('github', 'create_issue')).toBe('github__create_issue');
    expect(readName('github__create_issue')).toEqual({ server: 'github', name: 'create_issue' });
  });

  it('META-5 a name is at most 47 characters that every host accepts, and always the same', () => {
    fc.assert(
      fc.property(part, part, (server, tool) => {
        const name = exposedName(server, tool);
        expect(name).toMatch(/^[A-Za-z0-9_-]{1,47}$/);
        expect(exposedName(server, tool)).toBe(name);
      }),
      { numRuns: repetitions(500, 2000) },
    );
  });

  it('A13 R15 no two tools share a name, and no name is that of a meta-tool', () => {
    fc.assert(
      fc.property(part, part, part, part, (serverA, toolA, serverB, toolB) => {
        const same = serverA === serverB && toolA === toolB;
        expect(exposedName(serverA, toolA) === exposedName(serverB, toolB)).toBe(same);
        expect(exposedName(serverA, toolA)).toContain('__');
      }),
      { numRuns: repetitions(2000, 10_000) },
    );
    const pairs = [
      ['a_b', 'c'],
      ['a', 'b_c'],
      ['a', 'b__c'],
      ['a__b', 'c'],
      ['a_', '_c'],
      ['a', '__c'],
      ['a_', 'c'],
      ['a', '_c'],
      ['a', 'search_tools'],
      ['A', 'search_tools'],
      ['a', 'b.c'],
      ['a', 'b c'],
    ] as const;
    expect(new Set(pairs.map(([server, tool]) => exposedName(server, tool))).size).toBe(pairs.length);
  });

  it('A13 a tool that imitates a shortened name does not get it', () => {
    const real = exposedName('server', 'x'.repeat(80));
    const [, imitation = ''] = /^server__(.*)$/.exec(real) ?? [];
    expect(exposedName('server', imitation)).not.toBe(real);
  });

  it('R15 a name that can be read back is read back as what it was', () => {
    fc.assert(
      fc.property(part, part, (server, tool) => {
        const read = readName(exposedName(server, tool));
        if (read) expect(read).toEqual({ server, name: tool });
      }),
      { numRuns: repetitions(500, 2000) },
    );
  });

  it('META-6 the URI of a resource holds that of its server unchanged', () => {
    expect(exposedUri('fs', 'file:///a%20b?c#d')).toBe('toolscout://fs/file:///a%20b?c#d');
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (server, uri) => {
        expect(readUri(exposedUri(server, uri))).toEqual({ server, uri });
      }),
    );
    expect(readUri('file:///a')).toBeUndefined();
    expect(readUri('toolscout://%E0%A4%A/x')).toBeUndefined();
    expect(readUri('toolscout:guide')).toBeUndefined();
  });
});
