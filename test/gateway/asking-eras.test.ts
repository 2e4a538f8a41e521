import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { fixture, startListening, temporaryDirectory } from '../support/fixture.js';
import { connectHost, serveOverHttp, type HostOptions, type TestHost } from '../support/mcp-host.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

/** A server of both eras that can ask its host in the older one only, as many that were written for that era. */
async function bothEras(): Promise<{ gateway: Gateway; starts: () => Promise<number> }> {
  const file = join(await temporaryDirectory(), 'starts');
  const gateway = await openToolscout({ servers: { asking: fixture('asking', '--both', `--start-file=${file}`) } });
  await gateway.servers.discover();
  const count = async (): Promise<number> => (await readFile(file, 'utf8')).trim().split('\n').length;
  const before = await count();
  return { gateway, starts: async () => (await count()) - before };
}

function call(host: TestHost, tool: string, args: JsonObject = {}): Promise<JsonObject> {
  const params = { name: 'execute_tool', arguments: { server: 'asking', tool, arguments: args } };
  return host.request('tools/call', params, { timeout: patient(120_000) });
}

async function expectAnswered(host: TestHost, tool: string): Promise<void> {
  const answer = await call(
    host,
    tool,
    tool === 'sample' ? { prompt: 'hi' } : tool === 'roots' ? {} : { message: 'a' },
  );
  expect(answer['isError'], textOf(answer)).not.toBe(true);
  const expected = { sample: 'SAMPLED', roots: 'file:///home/ann' }[tool] ?? '"action":"accept"';
  expect(textOf(answer)).toContain(expected);
}

const LEGACY: ReadonlyArray<HostOptions & { readonly title: string; readonly first: string }> = [
  { title: 'stdio --shared', first: 'sample', era: 'legacy', over: 'stdio', shared: true },
  { title: 'stdio', first: 'roots', era: 'legacy', over: 'stdio' },
];

describe('a server of both eras that asks in the older one only', STARTS_PROCESSES, () => {
  it.each(LEGACY)('C5 META-6 asks a 2025 host over $title, in its first call already ($first)', async (options) => {
    const { gateway } = await bothEras();
    const ann = await connectHost(gateway, options);
    for (const tool of new Set([options.first, 'elicit', 'sample', 'roots'])) await expectAnswered(ann, tool);
  });

  it('C5 CONN-3 META-6 asks 2025 hosts over HTTP, each over a process of its own; all that cannot be asked share one', async () => {
    const { gateway, starts } = await bothEras();
    const url = await serveOverHttp(gateway);
    const connect = (capabilities?: JsonObject): Promise<TestHost> =>
      connectHost(gateway, { era: 'legacy', over: 'http', capabilities }, { url });
    const [ann, bob] = [await connect(), await connect()];
    const mute = [await connect({}), await connect({})];
    for (const tool of ['elicit', 'sample', 'roots']) await expectAnswered(ann, tool);
    await Promise.all([ann, bob].map((host) => expectAnswered(host, 'elicit')));
    expect([ann, bob].map(({ asked }) => asked.length)).toEqual([4, 1]);
    for (const host of mute) expect(textOf(await call(host, 'seen'))).toContain('cancelled');
    // The first question came over the process that hosts share until then.
    expect(await starts()).toBeLessThanOrEqual(4);
  });

  it('C5 META-6 EXEC-4 asks a 2026 host in its first call if the tool may run twice', async () => {
    const { gateway } = await bothEras();
    const ann = await connectHost(gateway, { era: 'modern', over: 'http' });
    for (const tool of ['elicit_to_read', 'elicit', 'sample', 'roots']) await expectAnswered(ann, tool);
  });

  it('C5 META-6 EXEC-4 a remote one asks hosts of both eras from the second call on, after a restart in the first', async () => {
    const stateDir = await temporaryDirectory();
    const running = await startListening('asking', ['--both', '--http'], 'mcp');
    onTestFinished(() => running.stop());
    for (const isFirst of [true, false]) {
      const gateway = await openToolscout({ servers: { asking: { url: running.url, type: 'http' } } }, { stateDir });
      await gateway.servers.discover();
      for (const era of ['modern', 'legacy'] as const) {
        const ann = await connectHost(gateway, { era, over: 'http' });
        if (isFirst && era === 'modern') {
          // What it did before it asked is not known, so it is not run a second time.
          expect(JSON.parse(textOf(await call(ann, 'elicit', { message: 'a' })))).toMatchObject({
            code: 'TOOL_EXECUTION_ERROR',
            suggestion: expect.stringContaining('then make it again') as string,
          });
        }
        for (const tool of ['elicit', 'sample', 'roots']) await expectAnswered(ann, tool);
      }
      await gateway.close();
    }
  });
});
