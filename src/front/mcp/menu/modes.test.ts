import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../../../../test/support/fixture.js';
import { envelope, modernPost } from '../../../../test/support/modern-request.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { openPipes } from '../../../../test/support/stdio-host.js';
import type { Gateway } from '../../../gateway/index.js';
import { systemClock } from '../../../kernel/clock.js';
import type { JsonObject } from '../../../kernel/json.js';
import { silentLog } from '../../../kernel/log.js';
import type { ConfigInput } from '../../../model/config.js';
import { createMcpEndpoint } from '../http/http.js';
import { knownHost } from './known-hosts.js';
import { createModeChoice, type ModeChoice } from './modes.js';

const URL_OF_IT = 'http://127.0.0.1:7077/mcp';
const TOOLS = [{ name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } }];

const modeOf = (name: string, choice: ModeChoice, hostModes?: Record<string, ModeChoice>): string =>
  createModeChoice(choice, hostModes)({ clientInfo: { name, version: '1' } });

describe('the mode of a host', () => {
  it.each([
    ['claude-code', 'passthrough'],
    ['Visual Studio Code - Insiders', 'passthrough'],
    ['cursor-vscode', 'passthrough'],
    ['qwen-cli-mcp-client-toolscout', 'passthrough'],
    ['codex-mcp-client', 'meta'],
    ['github-copilot-developer', 'meta'],
    ['copilot-cli', 'meta'],
    ['Kiro CLI', 'meta'],
    ['gemini-cli-mcp-client', 'meta'],
    ['claude-ai', 'meta'],
    ['', 'meta'],
  ])('META-5 auto: "%s" gets %s', (name, mode) => {
    expect(modeOf(name, 'auto')).toBe(mode);
  });

  it('META-5 hostModes come before the table and before the mode; auto in them means the table', () => {
    expect(modeOf('claude-code', 'auto', { 'claude-*': 'hybrid' })).toBe('hybrid');
    expect(modeOf('claude-code', 'meta', { 'claude-*': 'auto' })).toBe('passthrough');
    expect(modeOf('codex-mcp-client', 'passthrough', { 'codex*': 'auto' })).toBe('meta');
    expect(modeOf('claude-code', 'meta')).toBe('meta');
    expect(createModeChoice('auto')({ clientInfo: 'claude-code' })).toBe('meta');
  });
});

describe('the table of hosts', () => {
  it('DOC-1 META-5 docs/modes.md says what holds for each of them', () => {
    const page = readFileSync(new URL('../../../../docs/modes.md', import.meta.url), 'utf8');
    const rows = page
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .filter((cells) => cells.length === 6 && ['yes', 'no'].includes(cells[4]!));
    expect(rows).toHaveLength(15);
    for (const [, , names = '', mode, flat] of rows) {
      for (const [, name = ''] of names === '' ? [['', 'some-host']] : names.matchAll(/`([^`]+)`/g)) {
        const host = knownHost(`${name} 1`);
        expect([name, `\`${modeOf(`${name} 1`, 'auto')}\``]).toEqual([name, mode]);
        expect([name, host?.wantsFlatSchemas === true ? 'yes' : 'no']).toEqual([name, flat]);
      }
    }
  });
});

/** The tools a host of that name is shown. */
type List = (gateway: Gateway, name: string) => Promise<string[]>;

const namesIn = (answer: unknown): string[] =>
  (answer as { result: { tools: Array<{ name: string }> } }).result.tools.map(({ name }) => name);

function pipes(gateway: Gateway): (message: JsonObject) => Promise<JsonObject> {
  const { input, received } = openPipes(gateway);
  return async (message) => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const isAnswer = ({ id, method }: JsonObject): boolean => id === message['id'] && method === undefined;
    await waitUntil(() => message['id'] === undefined || received.some(isAnswer), { what: 'an answer' });
    return received.find(isAnswer) ?? {};
  };
}

const hello = (name: string): JsonObject => ({
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name, version: '1' },
});

const WAYS: ReadonlyArray<readonly [string, List]> = [
  [
    'a 2025-era host over stdio',
    async (gateway, name) => {
      const ask = pipes(gateway);
      await ask({ id: 1, method: 'initialize', params: hello(name) });
      await ask({ method: 'notifications/initialized' });
      return namesIn(await ask({ id: 2, method: 'tools/list' }));
    },
  ],
  [
    'a 2026-era host over stdio',
    async (gateway, name) => {
      const ask = pipes(gateway);
      const _meta = envelope({}, name);
      await ask({ id: 1, method: 'server/discover', params: { _meta } });
      return namesIn(await ask({ id: 2, method: 'tools/list', params: { _meta } }));
    },
  ],
  [
    'a 2026-era host over stdio whose first request has no name',
    async (gateway, name) => {
      const ask = pipes(gateway);
      const { 'io.modelcontextprotocol/clientInfo': _name, ...nameless } = envelope({}, name);
      await ask({ id: 1, method: 'server/discover', params: { _meta: nameless } });
      return namesIn(await ask({ id: 2, method: 'tools/list', params: { _meta: envelope({}, name) } }));
    },
  ],
  [
    'a 2025-era host over HTTP',
    async (gateway, name) => {
      const endpoint = open(gateway);
      const post = (body: JsonObject, session?: string): Promise<Response> => {
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        const own = session === undefined ? headers : { ...headers, 'mcp-session-id': session };
        const sent = JSON.stringify({ jsonrpc: '2.0', ...body });
        return endpoint.fetch(new Request(URL_OF_IT, { method: 'POST', headers: own, body: sent }));
      };
      const opened = await post({ id: 1, method: 'initialize', params: hello(name) });
      const session = opened.headers.get('mcp-session-id')!;
      await post({ method: 'notifications/initialized' }, session);
      const text = await (await post({ id: 2, method: 'tools/list' }, session)).text();
      // An answer that is there at once comes alone, another as an event.
      return namesIn(JSON.parse(/^(?:data: )?(\{.*)$/m.exec(text)![1]!));
    },
  ],
  [
    'a 2026-era host over HTTP',
    async (gateway, name) => {
      const request = modernPost('tools/list', { _meta: envelope({}, name) });
      return namesIn(await (await open(gateway).fetch(new Request(URL_OF_IT, request))).json());
    },
  ],
];

function open(gateway: Gateway): ReturnType<typeof createMcpEndpoint> {
  const info = { name: 'toolscout', version: '9.9.9' };
  const endpoint = createMcpEndpoint({ gateway, info, log: silentLog, clock: systemClock });
  onTestFinished(() => endpoint.close());
  return endpoint;
}

describe.each(WAYS)('%s', (_, list) => {
  const listAs = async (name: string, config: ConfigInput): Promise<string[]> =>
    list((await openOfflineGateway([{ id: 'notes', tools: TOOLS }], config)).gateway, name);

  it('META-5 gets its mode by its name: from the table, or from hostModes', async () => {
    expect(await listAs('qwen-cli-mcp-client-notes', { mode: 'auto' })).toEqual(['notes__read_note']);
    expect(await listAs('codex-mcp-client', { mode: 'auto' })).toHaveLength(5);
    expect(await listAs('My-IDE', { hostModes: { 'my-ide*': 'passthrough' } })).toEqual(['notes__read_note']);
    expect(await listAs('claude-code', { mode: 'auto', hostModes: { 'claude*': 'meta' } })).toHaveLength(5);
  });
});
