import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, waitUntil } from '../support/fixture.js';
import { CLI, workplace, type Workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

/** The files that every start may load; anything else belongs behind an `import()`. `forward` holds what a forwarder needs too. */
const AT_START = ['cli', 'command', 'forward', 'rolldown-runtime', 'serve', 'settle-heap', 'start', 'terminal'];

/** What the embedded store is loaded from; the library itself has a name for each platform. */
const PACKAGES = ['@neon-rs/load', 'detect-libc', 'libsql'];

/** What the first call to a child may load besides. */
const TO_A_CHILD = ['2020', 'deadlines', 'envelope', 'era', 'requests', 'stdio-transport', 'unsolicited', 'upstream'];

const request = (id: number, method: string, params: object): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const clientInfo = { name: 'host', version: '1' };
const initialize = request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
const list = request(2, 'tools/list', {});

/** The names, without their hashes, of the files of ours and of packages that a host's requests have loaded. */
async function loadedBy(place: Workplace, requests: readonly string[]): Promise<string[]> {
  const coverage = join(place.folder, `coverage-${requests.length}`);
  const child = spawn(process.execPath, [CLI, 'serve', '--stdio', ...place.flags], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // What the engine was given to run is the one list that cannot be wrong.
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.write(requests.join(''));
  await waitUntil(() => text.includes(`"id":${requests.length}`), { what: 'the last answer', timeoutMs: 30_000 });
  child.stdin.end();
  await ended;
  const reports = await Promise.all(
    (await readdir(coverage)).map(
      async (file) =>
        JSON.parse(await readFile(join(coverage, file), 'utf8')) as { result: ReadonlyArray<{ url: string }> },
    ),
  );
  const urls = reports.flatMap(({ result }) => result.map(({ url }) => url));
  // The children of the process report as well; they are written elsewhere.
  const names = urls.filter((url) => /^file:.*\/(dist|node_modules)\//.test(url)).map(nameOf);
  return [...new Set(names.filter((name) => !name.startsWith('@libsql/')))].toSorted();
}

function nameOf(url: string): string {
  const [, packaged] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
  return packaged ?? basename(url, '.js').replace(/-[\w-]{8}$/, '');
}

describe('what a start loads', STARTS_PROCESSES, () => {
  it('CONN-2 with a warm store the first tools/list loads what every start needs and nothing else', async () => {
    const place = await workplace({
      servers: { old: fixture('legacy') },
      toolRules: [{ pattern: '*', tags: ['all'] }],
    });
    expect((await place.run('warm')).code).toBe(0);
    const loaded = await loadedBy(place, [initialize, list]);
    expect(loaded).toEqual([...AT_START, ...PACKAGES].toSorted());
  });

  it('CONN-2 a call to a child loads the way to it and the check of its arguments, and not the SDK', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    expect((await place.run('warm')).code).toBe(0);
    const args = { server: 'old', tool: 'echo', arguments: { message: 'hi' } };
    const call = request(2, 'tools/call', { name: 'execute_tool', arguments: args });
    const loaded = await loadedBy(place, [initialize, call]);
    expect(loaded.filter((name) => !AT_START.includes(name) && !PACKAGES.includes(name))).toEqual(TO_A_CHILD);
  });

  it('CONN-2 a host that is not of the 2025 era is served by what is loaded for it', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const loaded = await loadedBy(place, [request(1, 'ping', {})]);
    expect(loaded).toEqual(expect.arrayContaining([...AT_START, 'stdio-protocol']));
  });

  it('CONN-1 DISC-4 a server of both eras whose list is always old is started once for a host, and once only', async () => {
    const place = await workplace({ servers: {} });
    const starts = join(place.folder, 'starts');
    await place.write({ servers: { both: fixture('modern', '--dual', '--ttl=0', `--start-file=${starts}`) } });
    expect((await place.run('warm')).code).toBe(0);
    const started = async (): Promise<number> => (await readFile(starts, 'utf8')).trim().split('\n').length;
    const before = await started();
    const child = place.start('serve', '--stdio');
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stdin!.write(initialize);
    const learnedTwice = async (): Promise<boolean> => {
      const { stdout } = await place.run('audit', '--kind', 'discovered', '--json');
      return (JSON.parse(stdout) as { records: unknown[] }).records.length > 1;
    };
    for (let id = 2; id < 22; id++) {
      const args = { server: 'both', tool: 'echo', arguments: { message: `m${id}` } };
      child.stdin!.write(request(id, 'tools/call', { name: 'execute_tool', arguments: args }));
      await waitUntil(() => text.includes(`"id":${id}`), { what: 'an answer', timeoutMs: 30_000 });
    }
    // The list was asked for anew, of the process that runs.
    await waitUntil(learnedTwice, { what: 'the list read again', timeoutMs: 30_000 });
    expect((await started()) - before).toBe(1);
    const audit = await place.run('audit', '--kind', 'execution', '--limit', '1', '--json');
    expect(JSON.parse(audit.stdout)).toMatchObject({ records: [{ era: 'legacy', outcome: 'success' }] });
  });
});
