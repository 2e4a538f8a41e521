import { describe, expect, it } from 'vitest';
import { eraWord } from './era-word.js';

describe('the protocol in words', () => {
  it('STUDIO-3 says in words which protocol a host or a server speaks', () => {
    expect(['legacy', 'modern', 'later'].map(eraWord)).toEqual(['MCP with sessions', 'MCP without sessions', 'later']);
  });
});
