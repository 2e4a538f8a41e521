import { expect, it } from 'vitest';
import { fixture } from '../../../../test/support/fixture.js';
import { openHttpApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';

const DEPTH = 20_000;
const DEEP = `${'{"a":'.repeat(DEPTH)}{}${'}'.repeat(DEPTH)}`;
const ACCEPT = { accept: 'application/json, text/event-stream' };
const INITIALIZE = (capabilities: string, info = '{"name":"x","version":"1"}'): string =>
  `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":${capabilities},"clientInfo":${info}}}`;

it(
  'A26 R3 a 2025-era host that nests what it says of itself too deeply is refused, and the sessions beside it end as always',
  STARTS_PROCESSES,
  async () => {
    const { send, post } = await openHttpApp(await openToolscout({ servers: { old: fixture('legacy') } }));
    const plain = await post('/mcp', INITIALIZE('{}'), ACCEPT);
    expect(plain.status).toBe(200);
    const bodies = [INITIALIZE(DEEP), INITIALIZE('{}', DEEP), INITIALIZE(`{"x":[${DEEP}]}`), `[${INITIALIZE(DEEP)}]`];
    for (const body of bodies) {
      const refused = await post('/mcp', body, ACCEPT);
      expect([refused.status, refused.headers.get('mcp-session-id')]).toEqual([400, null]);
      expect(await refused.text()).toContain('nests deeper than 64 levels');
    }
    const headers = { 'mcp-session-id': plain.headers.get('mcp-session-id')! };
    expect((await send('/mcp', { method: 'DELETE', headers })).status).toBeLessThan(300);
  },
);

it('A26 a 2026-era host that nests what it says of itself too deeply is refused', STARTS_PROCESSES, async () => {
  const { post } = await openHttpApp(await openToolscout({ servers: { old: fixture('legacy') } }));
  const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":${DEEP}}`;
  for (const [method, params] of [
    ['tools/call', '"name":"search_tools","arguments":{"query":"echo"},'],
    ['tools/list', ''],
  ] as const) {
    const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params}"_meta":${meta}}}`;
    const headers = { ...ACCEPT, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
    const refused = await post('/mcp', body, { ...headers, ...(params !== '' && { 'mcp-name': 'search_tools' }) });
    expect([method, refused.status]).toEqual([method, 400]);
    expect(await refused.text()).toContain('nests deeper than 64 levels');
  }
});
