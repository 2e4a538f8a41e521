import { describe, expect, it } from 'vitest';
import { copiesOf } from './copies.js';

describe('copiesOf', () => {
  it('STUDIO-1 writes one call as command line, curl, TypeScript and MCP message', () => {
    const copies = copiesOf('files', 'read', { path: "it's" }, { origin: 'http://127.0.0.1:7077' });
    expect(copies.cli).toBe(String.raw`npx toolscout call files:read --args '{"path":"it'\''s"}'`);
    expect(copies.curl).toContain('http://127.0.0.1:7077/v1/call');
    expect(copies.typescript).toContain('await toolscout.call("files", "read", {');
    expect(JSON.parse(copies.mcp)).toMatchObject({
      method: 'tools/call',
      params: { name: 'execute_tool', arguments: { server: 'files', tool: 'read', arguments: { path: "it's" } } },
    });
  });

  it('STUDIO-1 each copy reaches the toolscout of the page', () => {
    const flags = { config: '/srv/tools.yaml', stateDir: '/srv/state', port: '7391' };
    const copies = copiesOf('files', 'read', {}, { origin: 'http://127.0.0.1:7391', ...flags });
    expect(copies.cli).toBe(
      "npx toolscout call files:read --args '{}' \\\n  --config /srv/tools.yaml \\\n  --state-dir /srv/state",
    );
    expect(copies.typescript).toContain('createToolscout({"config":"/srv/tools.yaml","stateDir":"/srv/state"})');
    expect(copies.curl).not.toContain('authorization');
    const locked = copiesOf('files', 'read', {}, { origin: 'https://tools.example.com', required: true });
    expect(locked.curl).toContain('-H "authorization: Bearer $TOOLSCOUT_KEY"');
    expect(locked.typescript).toContain('createToolscout()');
  });
});
