import { describe, expect, it } from 'vitest';
import { copiesOf, shellWord } from './copies.js';

describe('copiesOf', () => {
  it('STUDIO-1 writes one call as command line, curl, TypeScript and MCP message', () => {
    const copies = copiesOf('files', 'read', { path: "it's" }, 'http://127.0.0.1:7077');
    expect(copies.cli).toBe(String.raw`toolscout call files:read --args '{"path":"it'\''s"}'`);
    expect(copies.curl).toContain('http://127.0.0.1:7077/v1/call');
    expect(copies.typescript).toContain('await toolscout.call("files", "read", {');
    expect(JSON.parse(copies.mcp)).toMatchObject({
      method: 'tools/call',
      params: { name: 'execute_tool', arguments: { server: 'files', tool: 'read', arguments: { path: "it's" } } },
    });
  });

  it('A17 a name of a server cannot leave its word in a shell', () => {
    expect(shellWord('a; rm -rf /')).toBe("'a; rm -rf /'");
    expect(shellWord('$(x)`y`')).toBe("'$(x)`y`'");
    expect(shellWord('plain-1.2/x:y')).toBe('plain-1.2/x:y');
  });
});
