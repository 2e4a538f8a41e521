import { describe, expect, it } from 'vitest';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import type { Gateway } from '../../../gateway/index.js';
import { Canceller } from '../../../kernel/async/cancel.js';
import type { JsonObject, JsonValue } from '../../../kernel/json.js';
import type { Host } from '../../../model/host.js';
import { runTool } from './run-tool.js';

const host: Host = {
  id: 'h',
  era: 'legacy',
  capabilities: {},
  request: () => Promise.reject(new Error('nobody is there')),
  notify: () => undefined,
};

/** Calls a tool that needs no arguments; answers what it was called with. */
async function called(params: JsonObject): Promise<JsonObject[]> {
  const ran: JsonObject[] = [];
  const { gateway } = await openOfflineGateway([]);
  const executeTool: Gateway['call'] = async (_server, _tool, args) => {
    ran.push(args);
    return { success: true, result: { content: [] } };
  };
  const exchange = { host, principal: 'local', signal: new Canceller() };
  await runTool({ ...gateway, call: executeTool }, { server: 'a', tool: 'purge' }, params, exchange);
  return ran;
}

describe('a tool under a name of its own', () => {
  it('EXEC-2 without arguments it is called with none', async () => {
    expect(await called({})).toEqual([{}]);
    expect(await called({ arguments: null })).toEqual([{}]);
    expect(await called({ arguments: { a: 1 } })).toEqual([{ a: 1 }]);
  });

  it.each<[JsonValue]>([['{"a":1}'], [[1]], [7], [false], ['']])(
    'EXEC-2 arguments that are no object are refused, not left out: %j',
    async (args) => {
      await expect(called({ arguments: args })).rejects.toMatchObject({ upstream: { code: -32_602 } });
    },
  );

  it('META-3 a refusal has the fields that are documented, and none for programs', async () => {
    const { gateway } = await openOfflineGateway([
      { id: 'a', tools: [{ name: 'get', inputSchema: { required: ['id'] } }] },
    ]);
    const exchange = { host, principal: 'local', signal: new Canceller() };
    const { content } = await runTool(gateway, { server: 'a', tool: 'get' }, {}, exchange);
    const [{ text }] = content as [{ text: string }];
    const fields = ['code', 'message', 'server', 'tool', 'suggestion', 'severity', 'problems'];
    expect(Object.keys(JSON.parse(text) as object).toSorted()).toEqual(fields.toSorted());
  });
});
