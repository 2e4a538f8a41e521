import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callMetaTool } from '../../src/front/mcp/menu/meta-tools.js';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture } from '../support/fixture.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
let base: string;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
  base = await postgres.newDatabase();
}, patient(60_000));
afterAll(() => postgres.cleanup());

/** Replicas over one new place in the database, each with a state directory of its own. */
async function replicas(
  config: ConfigInput,
): Promise<{ readonly open: () => Promise<Gateway>; readonly schema: string }> {
  const schema = `answers${++count}`;
  return { schema, open: () => openToolscout({ ...config, store: `${base}?schema=${schema}` }) };
}

const execute = async (gateway: Gateway, server: string, tool: string, args: JsonObject): Promise<string> =>
  textOf(await callMetaTool(gateway, 'execute_tool', { server, tool, arguments: args }, { budget: 'agent' }));
const handleIn = (text: string): string => /res_[\w-]{24,}/.exec(text)![0];

/** Every value of a place in the database, as text. */
async function dump(schema: string): Promise<string> {
  const database = new URL(base).pathname.slice(1);
  const tables = (await postgres.query(
    `select table_name from information_schema.tables where table_schema = '${schema}'`,
    database,
  )) as Array<{ table_name: string }>;
  const texts: string[] = [];
  for (const { table_name: table } of tables) {
    const rows = (await postgres.query(
      `select row_to_json(t)::text as row from "${schema}"."${table}" t`,
      database,
    )) as Array<{ row: string }>;
    texts.push(...rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

describe('answers and scripts over PostgreSQL', STARTS_PROCESSES, () => {
  it('ANS-2 a result that one replica kept is read on in by another, belongs to its caller, and is redacted', async () => {
    const { open, schema } = await replicas({
      servers: { large: fixture('large') },
      redaction: [{ match: '/AKIA[0-9A-Z]{16}/', where: ['results', 'logs'] }],
    });
    const [first, second] = [await open(), await open()];
    const handle = handleIn(await execute(first, 'large', 'read_secrets', { count: 3000 }));
    const found = await execute(second, 'toolscout', 'search_result', { handle, query: 'entry 2345' });
    expect(found).toContain('entry 2345');
    expect(await dump(schema)).not.toContain('CANARY');

    const other = second.as({
      principal: 'eve',
      scopes: new Set(['read', 'call']),
      isLimited: false,
      sees: () => true,
    });
    expect(await execute(other, 'toolscout', 'read_result', { handle })).toContain('"code":"NOT_FOUND"');
    const third = await open();
    expect(await execute(third, 'toolscout', 'read_result', { handle, offset: 2999 })).toContain('entry 2999');
  });

  it('ANS-2 the bounds hold over all replicas: the oldest result goes when there is no room', async () => {
    const { open } = await replicas({
      servers: { large: fixture('large') },
      answers: { maxTokens: 500, keepBytes: 3_000_000 },
    });
    const gateways = [await open(), await open()];
    const handles: string[] = [];
    for (const at of [0, 1, 2, 3]) {
      handles.push(handleIn(await execute(gateways[at % 2]!, 'large', 'read_bytes', { count: 1_000_000 })));
    }
    const reads = await Promise.all(
      handles.map((handle) => execute(gateways[0]!, 'toolscout', 'read_result', { handle, limit: 1 })),
    );
    expect(reads.map((text) => text.includes('NOT_FOUND'))).toEqual([true, true, false, false]);
  });

  it('CODE-5 a script that waits on one replica goes on on another, once, and nothing of it can be read in the database', async () => {
    const { open, schema } = await replicas({ scripts: true, servers: { asks: fixture('asking', '--modern') } });
    const [first, second] = [await open(), await open()];
    const script =
      "const seen = 'canary-' + 7; const a = await tools.asks.elicit({ message: 'who' }); return [seen, a.content.name]";
    const host = {
      id: 'h',
      era: 'modern' as const,
      capabilities: { elicitation: {} },
      request: () => Promise.reject(new Error('A modern host is asked by an answer.')),
      notify: () => undefined,
    };
    const { suspended } = await first.run(script, { host });
    expect(await dump(schema)).not.toContain('canary-7');
    const [key] = Object.keys(suspended!.inputRequests);
    const inputResponses = { [key!]: { action: 'accept', content: { name: 'Ann' } } };
    const again = { host, resumed: { requestState: suspended!.state, inputResponses } };
    expect(await second.run(script, again)).toMatchObject({ success: true, value: ['canary-7', 'Ann'] });
    await expect(first.run(script, again)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('ANS-7 stats add up what all replicas recorded', async () => {
    const { open } = await replicas({ servers: { large: fixture('large') } });
    const [first, second] = [await open(), await open()];
    await execute(first, 'large', 'read_log', { count: 20_000 });
    await execute(second, 'large', 'read_log', { count: 10 });
    await expect
      .poll(async () => (await first.audit.stats({ by: 'tool' })).rows.find(({ key }) => key === 'large:read_log'))
      .toMatchObject({ calls: 2, tokens: { withheld: expect.any(Number) } });
  });
});
