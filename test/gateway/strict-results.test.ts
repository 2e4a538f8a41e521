import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMcpEndpoint } from '../../src/front/mcp/http/http.js';
import type { Gateway } from '../../src/gateway/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { silentLog } from '../../src/kernel/log.js';
import type { ConfigInput } from '../../src/model/config.js';
import { waitUntil } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';
import { openPipes } from '../support/stdio-host.js';

const URL_OF_IT = new URL('http://127.0.0.1:7077/mcp');
const text = (value: string): JsonObject => ({ type: 'text', text: value });
const link = { type: 'resource_link', uri: 'x://a', name: 'a' };
const audio = { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' };

/** Results that cost a client the whole answer, and the content that hosts of both eras must be able to read instead. */
const RESULTS: Readonly<Record<string, readonly [sent: JsonObject, content: readonly JsonObject[]]>> = {
  no_content: [{}, []],
  content_null: [{ content: null }, []],
  content_text: [{ content: 'plain' }, [text('plain')]],
  content_block: [{ content: text('alone') }, [text('alone')]],
  of_2024_10: [{ toolResult: { a: 1 } }, [text('{"a":1}')]],
  only_structured: [{ structuredContent: { a: 1 } }, [text('{"a":1}')]],
  text_number: [{ content: [{ type: 'text', text: 42 }] }, [text('42')]],
  block_text: [{ content: ['bare', text('ok')] }, [text('bare'), text('ok')]],
  unknown_type: [{ content: [{ type: 'hologram', d: 1 }] }, [text('{"type":"hologram","d":1}')]],
  no_mime_type: [{ content: [{ type: 'image', data: '' }] }, [text('{"type":"image","data":""}')]],
  resource_empty: [{ content: [{ type: 'resource', resource: {} }] }, [text('{"type":"resource","resource":{}}')]],
  link_nameless: [{ content: [{ type: 'resource_link', uri: 'x://a' }] }, [{ ...link, name: 'x://a' }]],
  nulls: [{ content: [{ ...text('ok'), annotations: null, _meta: null }], isError: null }, [text('ok')]],
};

async function open(config: ConfigInput, answer: (method: string, params: JsonObject) => JsonObject | undefined) {
  const { url } = await scriptedServer({
    tools: [...Object.keys(RESULTS), 'other'].map((name) => scriptedTool(name)),
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
    answer(method, params) {
      if (method === 'prompts/list') return { result: { prompts: [{ name: 'p', arguments: [{ name: 'a' }] }] } };
      if (method === 'resources/list') return { result: { resources: [{ uri: 'x://a', name: 'a' }] } };
      if (method === 'resources/templates/list') return { result: { resourceTemplates: [] } };
      const result = answer(method, params);
      return result && { result };
    },
  });
  const gateway = await openToolscout({ approval: 'off', servers: { odd: { url } }, ...config });
  await gateway.servers.discoverTools('odd');
  return gateway;
}

const fetchFrom = (gateway: Gateway): typeof fetch => {
  const info = { name: 'toolscout', version: '9.9.9' };
  const endpoint = createMcpEndpoint({ gateway, info, log: silentLog, clock: systemClock });
  onTestFinished(() => endpoint.close());
  return (url, init) => endpoint.fetch(new Request(url, init), {});
};

type Host = Pick<ClientV1, 'callTool' | 'getPrompt' | 'readResource' | 'complete'>;

const connectV2 =
  (mode: 'legacy' | 'auto') =>
  async (gateway: Gateway): Promise<Host> => {
    const client = new ClientV2({ name: 'host', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new HttpV2(URL_OF_IT, { fetch: fetchFrom(gateway) }));
    onTestFinished(() => client.close());
    return client as unknown as Host;
  };

const CLIENTS: ReadonlyArray<readonly [string, (gateway: Gateway) => Promise<Host>]> = [
  [
    'SDK 1.x',
    async (gateway) => {
      const client = new ClientV1({ name: 'host', version: '1' });
      await client.connect(new HttpV1(URL_OF_IT, { fetch: fetchFrom(gateway) }));
      onTestFinished(() => client.close());
      return client;
    },
  ],
  ['SDK 2.x with a session', connectV2('legacy')],
  ['SDK 2.x of 2026-07-28', connectV2('auto')],
];

describe.each(CLIENTS)('%s', (_, connect) => {
  it.each(['meta', 'passthrough'] as const)(
    'META-3 in the mode %s reads every result that a server wrote badly',
    async (mode) => {
      const host = await connect(
        await open({ mode }, (method, { name }) => (method === 'tools/call' ? RESULTS[String(name)]![0] : undefined)),
      );
      for (const [tool, [, content]] of Object.entries(RESULTS)) {
        const call =
          mode === 'meta'
            ? { name: 'execute_tool', arguments: { server: 'odd', tool, arguments: {} } }
            : { name: `odd__${tool}`, arguments: {} };
        expect((await host.callTool(call)).content, tool).toEqual(content);
      }
    },
  );

  it('META-6 reads prompts, resources and completions that a server wrote badly', async () => {
    const answers: Record<string, JsonObject> = {
      'prompts/get': {
        messages: [
          { role: 'human', content: 'hi' },
          { role: 'assistant', content: [link, text('b')] },
        ],
      },
      'resources/read': { contents: [{ text: { a: 1 }, mimeType: null }, 'bare'] },
      'completion/complete': { values: ['a', 1] },
    };
    const host = await connect(await open({ mode: 'passthrough' }, (method) => answers[method]));
    expect((await host.getPrompt({ name: 'odd__p' })).messages).toEqual([
      { role: 'user', content: text('hi') },
      { role: 'assistant', content: link },
      { role: 'assistant', content: text('b') },
    ]);
    const uri = 'toolscout://odd/x://a';
    const read = await host.readResource({ uri });
    expect(read.contents).toEqual([
      { uri, text: '{"a":1}' },
      { uri, text: 'bare' },
    ]);
    const ref = { type: 'ref/prompt' as const, name: 'odd__p' };
    const { completion } = await host.complete({ ref, argument: { name: 'a', value: '' } });
    expect(completion).toEqual({ values: ['a'] });
  });
});

describe('a structured value that is no object', () => {
  it.each(['meta', 'passthrough'] as const)(
    'META-6 is wrapped for hosts before 2026-07-28 in the mode %s',
    async (mode) => {
      const gateway = await open({ mode }, (method) =>
        method === 'tools/call' ? { content: [], structuredContent: [1, 2] } : undefined,
      );
      const call =
        mode === 'meta'
          ? { name: 'execute_tool', arguments: { server: 'odd', tool: 'other', arguments: {} } }
          : { name: 'odd__other', arguments: {} };
      const wrapped = { content: [text('[1,2]')], structuredContent: { result: [1, 2] } };
      expect(await (await CLIENTS[0]![1](gateway)).callTool(call)).toEqual(wrapped);
      expect((await (await CLIENTS[2]![1](gateway)).callTool(call)).structuredContent).toEqual([1, 2]);
    },
  );
});

describe('content that is newer than the revision of a host', () => {
  async function contentFor(protocolVersion: string): Promise<JsonObject[]> {
    const gateway = await open({}, (method) => (method === 'tools/call' ? { content: [link, audio] } : undefined));
    const { input, received } = openPipes(gateway);
    const send = (message: JsonObject): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'old', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } });
    send({ method: 'notifications/initialized' });
    const params = { name: 'execute_tool', arguments: { server: 'odd', tool: 'other', arguments: {} } };
    send({ id: 2, method: 'tools/call', params });
    const isAnswer = ({ id }: JsonObject): boolean => id === 2;
    await waitUntil(() => received.some(isAnswer), { what: 'the answer', timeoutMs: 20_000 });
    return (received.find(isAnswer)!['result'] as JsonObject)['content'] as JsonObject[];
  }

  it('META-6 C1 is text for a host of a revision without it, and unchanged for others', async () => {
    const linkText = text(JSON.stringify(link));
    const audioText = text(
      '[audio/wav, 8 characters of base64: left out, since protocol revision 2024-11-05 has no audio]',
    );
    expect(await contentFor('2024-11-05')).toEqual([linkText, audioText]);
    expect(await contentFor('2025-03-26')).toEqual([linkText, audio]);
    expect(await contentFor('2025-06-18')).toEqual([link, audio]);
  });
});
