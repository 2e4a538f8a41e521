import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, SSEClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, startListening, temporaryDirectory } from '../support/fixture.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';
import { openClientDoor } from './client-door.js';
import { readExpectedFailures, toBaseline } from './expected-failures.js';
import { REQUIREMENTS, runSuite, type SuiteResult } from './suite.js';
import { startTarget } from './targets.js';

/** One run of the suite; it takes up to twenty seconds where nothing else runs. */
const PATIENCE_MS = patient(600_000);

describe('the fixture of the suite', STARTS_PROCESSES, () => {
  it.each([
    { requirement: '2025-11-25', passed: 84, failed: 0 },
    // Those that fail are about tasks, an extension that does not count.
    { requirement: '2026-07-28', passed: 164, failed: 30 },
  ])(
    'C1 passes what $requirement requires when the suite speaks to it directly',
    async ({ requirement, passed, failed }) => {
      const folder = await temporaryDirectory();
      const endpoint = await startTarget('direct', folder);
      onTestFinished(() => endpoint.stop());
      const args = ['--url', endpoint.url, '--requirements', requirement];
      const result = await runSuite('server', args, join(folder, 'out'));
      const failing = result.scenarios.filter(({ checks }) => checks.some(({ status }) => status === 'FAILURE'));
      expect(failing.map(({ scenario }) => scenario).filter((name) => !name.startsWith('tasks-'))).toEqual([]);
      expect({ rc: result.rc, passed: result.passed, failed: result.failed }).toEqual({ rc: 0, passed, failed });
    },
    PATIENCE_MS,
  );

  it.each([
    { way: 'stdio', flags: [], era: 'modern' },
    { way: 'stdio', flags: ['--legacy'], era: 'legacy' },
    { way: 'stdio', flags: ['--modern'], era: 'modern' },
    { way: 'sse', flags: [], era: 'legacy' },
  ])('C2 offers the same over $way $flags', async ({ way, flags, era }) => {
    const asked: string[] = [];
    const mode = way === 'sse' ? 'legacy' : 'auto';
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { capabilities: { elicitation: {}, sampling: {}, roots: {} }, versionNegotiation: { mode } },
    );
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept' as const, content: { name: 'Alice', color: 'red' } };
    });
    onTestFinished(() => client.close());
    let transport: Transport;
    if (way === 'sse') {
      const { url, stop } = await startListening('conformance', ['--sse', '0'], 'sse');
      onTestFinished(stop);
      transport = new SSEClientTransport(new URL(url));
    } else {
      transport = new StdioClientTransport({ ...fixture('conformance', ...flags), stderr: 'inherit' });
    }
    await client.connect(transport);
    expect(client.getProtocolEra()).toBe(era);
    const before = (await client.listTools()).tools.length;
    expect((await client.callTool({ name: 'test_simple_text' })).content).toEqual([
      { type: 'text', text: 'This is a simple text response for testing.' },
    ]);
    expect((await client.callTool({ name: 'test_input_required_result_multi_round' })).content).toEqual([
      { type: 'text', text: 'Alice likes red.' },
    ]);
    await client.callTool({ name: 'test_trigger_tool_change' });
    expect((await client.listTools({}, { cacheMode: 'bypass' })).tools).toHaveLength(before + 1);
    expect(asked).toEqual(['Step 1: What is your name?', 'Step 2: What is your favorite color?']);
  });
});

/** What of the checks about the messages themselves failed, and how many there were. */
function wireChecks({ scenarios }: SuiteResult): { readonly judged: boolean; readonly failing: string[] } {
  const about = scenarios.flatMap(({ scenario, checks }) =>
    checks.filter(({ id }) => id === 'wire-schema-valid').map(({ status }) => ({ scenario, status })),
  );
  return {
    judged: about.length > 0,
    failing: about.filter(({ status }) => status === 'FAILURE').map(({ scenario }) => scenario),
  };
}

/** The checks that failed, by their scenario. */
function failingIn({ scenarios }: SuiteResult): string[] {
  return scenarios.flatMap(({ scenario, checks }) =>
    checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => `${scenario}: ${id}`),
  );
}

describe('toolscout and the suite', STARTS_PROCESSES, () => {
  it.each(REQUIREMENTS)(
    'C1 C4 what %s requires holds through toolscout, and every message is as its schema says',
    async (requirement) => {
      const folder = await temporaryDirectory();
      const endpoint = await startTarget('http', folder);
      onTestFinished(() => endpoint.stop());
      const args = ['--url', endpoint.url, '--requirements', requirement];
      const result = await runSuite('server', args, join(folder, 'out'));
      // The names first: the suite ends with 1 for failures that are not expected, and does not say which.
      expect(result.rc === 0 ? [] : failingIn(result)).toEqual([]);
      expect(result.rc).toBe(0);
      expect(wireChecks(result)).toEqual({ judged: true, failing: [] });
    },
    PATIENCE_MS,
  );

  it.each(REQUIREMENTS)(
    'C3 C4 the side that talks to servers does what %s requires of a client',
    async (requirement) => {
      const folder = await temporaryDirectory();
      const door = await openClientDoor(folder);
      onTestFinished(() => door.close());
      const args = ['--command', door.command, '--timeout', String(PATIENCE_MS), '--requirements', requirement];
      const result = await runSuite('client', args, join(folder, 'out'));
      expect(result.rc).toBe(0);
      expect(result.passed).toBeGreaterThan(300);
      expect(wireChecks(result).failing).toEqual([]);
    },
    2 * PATIENCE_MS,
  );
});

describe('expected failures', STARTS_PROCESSES, () => {
  const write = async (text: string): Promise<string> => {
    const path = join(await temporaryDirectory(), 'expected.yaml');
    await writeFile(path, text);
    return path;
  };

  it('C2 an excuse holds only where it says so', async () => {
    const path = await write(`
- entry: server-sse-polling:one-check
  targets: [sse]
  requirements: ['2025-11-25']
  reason: The old transport has no stream that could be polled.
`);
    const expected = await readExpectedFailures(path);
    expect(toBaseline(expected, { target: 'sse', requirement: '2025-11-25' })).toBe(
      'server:\n  - server-sse-polling:one-check\n',
    );
    expect(toBaseline(expected, { target: 'sse', requirement: '2026-07-28' })).toBeUndefined();
    expect(toBaseline(expected, { target: 'http', requirement: '2025-11-25' })).toBeUndefined();
  });

  it.each([
    "- { entry: ping, targets: [http], requirements: ['2025-11-25'] }",
    "- { entry: ping, targets: [http], requirements: ['2025-11-25'], reason: '      because        ' }",
    "- { entry: ping, targets: [], requirements: ['2025-11-25'], reason: a reason that is long enough }",
    'server: [ping]',
  ])('C2 an excuse without a reason or a place is refused: %s', async (text) => {
    await expect(readExpectedFailures(await write(text))).rejects.toThrow('is not a list of expected failures');
  });
});
