import { describe, expect, it } from 'vitest';
import { hrefTo, parseHash } from './router.js';

describe('router', () => {
  it.each([
    ['', { view: 'home', parts: [], query: {} }],
    ['#/servers/a%2Fb', { view: 'servers', parts: ['a/b'], query: {} }],
    ['#/search?q=read+a+file', { view: 'search', parts: [], query: { q: 'read a file' } }],
    ['#/tool/x/%E0%A4%A', { view: 'tool', parts: ['x', '%E0%A4%A'], query: {} }],
  ])('STUDIO-1 reads the address %j', (hash, expected) => {
    expect(parseHash(hash)).toEqual(expected);
  });

  it('STUDIO-1 reads back every address that it writes', () => {
    const href = hrefTo('tool', ['a/b', 'c?d#e'], { q: 'x&y', none: undefined });
    expect(parseHash(href)).toEqual({ view: 'tool', parts: ['a/b', 'c?d#e'], query: { q: 'x&y' } });
  });
});
