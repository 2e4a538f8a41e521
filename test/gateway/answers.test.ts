import { describe, expect, it } from 'vitest';
import { callMetaTool } from '../../src/front/mcp/menu/meta-tools.js';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject, JsonValue } from '../../src/kernel/json.js';
import { estimateResultTokens } from '../../src/kernel/tokens.js';
import type { ConfigInput } from '../../src/model/config.js';
import { temporaryDirectory } from '../support/fixture.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

const issues = (count: number): JsonObject => ({
  total: count,
  items: Array.from({ length: count }, (_, at) => ({
    id: at,
    title: `Issue number ${at} about topic ${at % 7}`,
    state: at % 3 === 0 ? 'open' : 'closed',
    body: `A longer text of issue ${at} that says what happened and what was expected.`,
  })),
});

const asText = (value: JsonValue): JsonObject => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

/** A toolscout before one server whose tools return what the test says. */
async function withResults(
  results: Readonly<Record<string, JsonObject>>,
  config: ConfigInput = {},
  options: { readonly stateDir?: string; readonly url?: string } = {},
): Promise<{ gateway: Gateway; url: string; calls: () => number }> {
  const server = await scriptedServer({
    tools: Object.keys(results).map((name) => scriptedTool(name)),
    answer: (method, { name }) => (method === 'tools/call' ? { result: results[String(name)]! } : undefined),
  });
  const url = options.url ?? server.url;
  const gateway = await openToolscout({ ...config, servers: { web: { url }, ...config.servers } }, options);
  return { gateway, url, calls: () => server.count('tools/call') };
}

const execute = (gateway: Gateway, args: JsonObject): Promise<JsonObject> =>
  callMetaTool(gateway, 'execute_tool', args, { budget: 'agent' });

const handleIn = (text: string): string => /res_[\w-]+/.exec(text)![0];

const readOn = (gateway: Gateway, args: JsonObject, tool = 'read_result'): Promise<JsonObject> =>
  execute(gateway, { server: 'toolscout', tool, arguments: args });

describe('answers', () => {
  it('ANS-1 a result within the budget is what the server sent', async () => {
    const small = { content: [{ type: 'text', text: 'a ü \ud83d\ude00', extra: 1 }], _meta: { a: 1 }, more: [null] };
    const { gateway } = await withResults({ small });
    expect(await execute(gateway, { server: 'web', tool: 'small', arguments: {} })).toEqual(small);
  });

  it('ANS-1 a larger one becomes a preview with its shape and a handle, within the budget', async () => {
    const { gateway } = await withResults({ list: asText(issues(2000)) });
    const answer = await execute(gateway, { server: 'web', tool: 'list', arguments: {} });
    expect(estimateResultTokens(answer)).toBeLessThan(3000);
    const text = textOf(answer);
    expect(text).toMatch(/Too large to return: about [\d,]+ tokens\. Kept as res_[\w-]{24,}\. Read on: execute_tool/);
    expect(text).toContain(
      '[Shape: {total: number, items: [2,000 × {id: number, title: string, state: string, body: string}]}]',
    );
    expect(text).toContain('"title":"Issue number 0 about topic 0"');
    expect(answer).not.toHaveProperty('isError');
  });

  it('ANS-3 read_result reads on where the preview says, and everything is reached', async () => {
    const { gateway } = await withResults({ list: asText(issues(400)) });
    const first = textOf(await execute(gateway, { server: 'web', tool: 'list', arguments: {} }));
    const handle = handleIn(first);
    let next: JsonObject = { handle, path: 'items', offset: 0 };
    const seen: JsonValue[] = [];
    for (let pages = 0; pages < 20; pages++) {
      const answer = await readOn(gateway, next);
      expect(estimateResultTokens(answer)).toBeLessThanOrEqual(8000);
      const [, rows, offset] = /^(\[\n.*\n\])(?:\n\[.*?(?:next: offset (\d+))?\])?$/s.exec(textOf(answer))!;
      seen.push(...(JSON.parse(rows!) as JsonValue[]));
      if (offset === undefined) break;
      next = { handle, path: 'items', offset: Number(offset) };
    }
    expect(seen).toEqual(issues(400)['items']);
  });

  it('ANS-3 search_result finds records, and select narrows', async () => {
    const { gateway } = await withResults({ list: asText(issues(2000)) });
    const handle = handleIn(textOf(await execute(gateway, { server: 'web', tool: 'list', arguments: {} })));
    const found = textOf(await readOn(gateway, { handle, query: 'issue number 1234' }, 'search_result'));
    expect(found).toMatch(/^\[.*found.*\]\n\[items\[1234\]\]\n\{"id":1234,/);
    expect(textOf(await readOn(gateway, { handle, select: 'items[?id==`77`].title | [0]' }))).toBe(
      'Issue number 77 about topic 0',
    );
  });

  it('ANS-2 an unknown handle, one of another principal and one of another skill get the same error', async () => {
    const { gateway } = await withResults({ list: asText(issues(2000)) });
    const handle = handleIn(textOf(await execute(gateway, { server: 'web', tool: 'list', arguments: {} })));
    const other = gateway.as({
      principal: 'eve',
      scopes: new Set(['read', 'call']),
      isLimited: false,
      sees: () => true,
    });
    const refusals = [
      textOf(await readOn(other, { handle })),
      textOf(await readOn(other, { handle: 'res_AAAAAAAAAAAAAAAAAAAAAAAA' })),
      textOf(await readOn(gateway, { handle: 'res_AAAAAAAAAAAAAAAAAAAAAAAA' })),
    ];
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toContain('"code":"NOT_FOUND"');
    expect(textOf(await readOn(other, { handle, query: 'issue' }, 'search_result'))).toBe(
      refusals[0]!.replace('read_result', 'search_result'),
    );
  });

  it('ANS-2 a second process over the same store reads on, and so does one after a restart', async () => {
    const stateDir = await temporaryDirectory();
    const { gateway, url } = await withResults({ list: asText(issues(2000)) }, {}, { stateDir });
    const handle = handleIn(textOf(await execute(gateway, { server: 'web', tool: 'list', arguments: {} })));
    const second = await openToolscout({ servers: { web: { url } } }, { stateDir });
    expect(textOf(await readOn(second, { handle, path: 'items[5].title' }))).toContain('Issue number 5');
    await gateway.close();
    await second.close();
    const third = await openToolscout({ servers: { web: { url } } }, { stateDir });
    expect(textOf(await readOn(third, { handle, path: 'items[6].title' }))).toContain('Issue number 6');
  });

  it('ANS-4 select gives the part, text and structured content agree, the whole stays behind a handle', async () => {
    const { gateway } = await withResults({ list: asText(issues(2000)) });
    const select = "{open: items[?state=='open'] | length(@), first: items[0].title}";
    const answer = await execute(gateway, { server: 'web', tool: 'list', arguments: {}, select });
    const wanted = { open: 667, first: 'Issue number 0 about topic 0' };
    expect(answer['structuredContent']).toEqual(wanted);
    expect(JSON.parse(textOf(answer))).toEqual(wanted);
    const handle = handleIn(JSON.stringify(answer['content']));
    expect(textOf(await readOn(gateway, { handle, path: 'items[9].id' }))).toBe('9');
  });

  it('ANS-4 a bad expression is refused with its position, and nothing is sent', async () => {
    const { gateway, calls } = await withResults({ list: asText(issues(5)) });
    const answer = await execute(gateway, { server: 'web', tool: 'list', arguments: {}, select: 'items[?id==' });
    expect(answer['isError']).toBe(true);
    expect(JSON.parse(textOf(answer))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(/position 12/) as string,
    });
    expect(calls()).toBe(0);
    expect(await gateway.audit.list({ kind: 'execution' })).toMatchObject([
      { outcome: 'refused', code: 'INVALID_REQUEST' },
    ]);
  });

  it('ANS-4 an error of the server is never filtered, and a text that is no JSON is returned with the reason', async () => {
    const failed = { content: [{ type: 'text', text: '{"message":"no"}' }], isError: true };
    const plain = { content: [{ type: 'text', text: 'no JSON here' }] };
    const { gateway } = await withResults({ failed, plain });
    expect(await execute(gateway, { server: 'web', tool: 'failed', arguments: {}, select: 'a.b' })).toEqual(failed);
    const answer = await execute(gateway, { server: 'web', tool: 'plain', arguments: {}, select: 'a.b' });
    expect(answer['content']).toEqual([
      ...plain.content,
      { type: 'text', text: '[select was not applied: the result is not JSON.]' },
    ]);
  });

  it('ANS-3 the own tools are found when a result is kept or by name, and are listed nowhere else', async () => {
    const { gateway } = await withResults({ list: asText(issues(2000)) });
    const found = async (query: string): Promise<string[]> =>
      (await gateway.search(query)).hits.map(({ server, tool }) => `${server}:${tool}`);
    expect(await found('read the rest of the result')).not.toContain('toolscout:read_result');
    expect(await found('toolscout read_result')).toContain('toolscout:read_result');
    await execute(gateway, { server: 'web', tool: 'list', arguments: {} });
    expect(await found('read the rest of the result')).toContain('toolscout:read_result');
    expect((await gateway.tools.offered()).map(({ server }) => server)).not.toContain('toolscout');
    expect((await gateway.servers.list()).map(({ id }) => id)).toEqual(['web']);
    expect((await gateway.tools.list('toolscout')).map(({ name }) => name)).toEqual(['read_result', 'search_result']);
    expect((await gateway.details('toolscout', 'read_result')).lean).toHaveProperty('inputSchema');
  });
});
