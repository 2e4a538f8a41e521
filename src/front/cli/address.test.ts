import { describe, expect, it } from 'vitest';
import { parseAddress } from './address.js';

describe('parseAddress', () => {
  it('META-4 reads "server tool" and "server:tool"', () => {
    expect(parseAddress('github', 'create_issue')).toEqual({ server: 'github', tool: 'create_issue' });
    expect(parseAddress('github:create_issue', undefined)).toEqual({ server: 'github', tool: 'create_issue' });
    expect(parseAddress('github:ns:tool', undefined)).toEqual({ server: 'github', tool: 'ns:tool' });
    expect(parseAddress('github', 'ns:tool')).toEqual({ server: 'github', tool: 'ns:tool' });
  });

  it('CLI-2 no id has a colon, so a word behind "server:tool" is one too many', () => {
    expect(() => parseAddress('a:b', 'c')).toThrow('Unexpected "c": "a:b" already names a server and a tool.');
  });

  it.each(['github', ':tool', 'server:', ':', ''])('CLI-2 "%s" alone names no tool', (text) => {
    expect(() => parseAddress(text, undefined)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }) as Error);
  });
});
