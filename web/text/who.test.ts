import { describe, expect, it } from 'vitest';
import { whoOf } from './who.js';

describe('who asked', () => {
  it('STUDIO-1 tells the hosts of one caller apart', () => {
    expect(whoOf({ principal: 'local' })).toBe('local');
    expect(whoOf({ principal: 'local', host: 'my-agent' })).toBe('local with my-agent');
  });
});
