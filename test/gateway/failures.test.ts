import { writeFile } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Finding } from '../../src/gateway/index.js';
import type { ConfigInput } from '../../src/model/config.js';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openToolscout, startCounter } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

const ABSENT = { command: '/no/such/program', args: [] };

/** A remote that takes every request and never answers. */
async function silentRemote(): Promise<{ readonly url: string; readonly asked: () => number }> {
  let asked = 0;
  const server: HttpServer = createServer(() => asked++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, asked: () => asked };
}

describe('failures of servers', STARTS_PROCESSES, () => {
  it('CONN-2 STORE-1 a failure is remembered with time and reason, and shown by another process', async () => {
    const stateDir = await temporaryDirectory();
    const config: ConfigInput = { servers: { gone: ABSENT, fine: fixture('legacy') } };
    const first = await openToolscout(config, { stateDir });
    const before = Date.now();
    expect((await first.search('add')).unavailable).toMatchObject([{ server: 'gone' }]);
    await first.close();

    const second = await openToolscout(config, { stateDir });
    const [fine, gone] = await second.servers.list();
    expect(fine).not.toHaveProperty('failure');
    expect(gone).toMatchObject({
      knowledge: 'failed',
      problem: expect.stringContaining('/no/such/program') as string,
      failure: { reason: expect.stringContaining('/no/such/program') as string },
    });
    expect(gone!.failure!.at).toBeGreaterThanOrEqual(before);
    const { stdout, stderr } = await commandLine(['servers'], { gateway: second });
    expect(stdout).toMatch(/gone +failed /);
    expect(stderr).toMatch(/^gone: failed (just now|\d+ s ago): .*\/no\/such\/program/m);
    expect(stderr).toContain('toolscout doctor');
  });

  it('CONN-2 CONN-3 after a fresh failure another process neither starts the server nor waits for it; discover does', async () => {
    const stateDir = await temporaryDirectory();
    const starts = await startCounter();
    const config: ConfigInput = {
      servers: { mute: { ...fixture('slow', '--hang', starts.flag), connectTimeoutMs: 60_000 } },
      limits: { searchWaitMs: 400 },
    };
    const first = await openToolscout(config, { stateDir });
    expect((await first.search('wait')).learning).toEqual(['mute']);
    await waitUntil(async () => (await starts.pids()).length === 1);
    await first.close({ drainMs: 0 });

    const second = await openToolscout(config, { stateDir });
    const answer = await second.search('wait');
    expect(answer.learning).toEqual([]);
    expect(answer.unavailable).toMatchObject([
      {
        server: 'mute',
        reason: expect.stringContaining('toolscout stopped before "mute" had listed its tools') as string,
      },
    ]);
    expect(await starts.pids()).toHaveLength(1);
    void second.servers.discover(['mute']);
    await waitUntil(async () => (await starts.pids()).length === 2, { what: 'discover to try again' });
  });

  it('CONN-2 a server that was slow for a command is learned by a toolscout that goes on', async () => {
    const stateDir = await temporaryDirectory();
    const config: ConfigInput = {
      servers: { late: fixture('slow', '--slow-start=900') },
      limits: { searchWaitMs: 300 },
    };
    const command = await openToolscout(config, { stateDir });
    expect((await command.search('wait')).learning).toEqual(['late']);
    await command.close({ drainMs: 0 });
    const patient = { ...config, limits: { searchWaitMs: 20_000 } };
    const serving = await openToolscout(patient, { stateDir, learnAtStart: true });
    expect((await serving.search('wait')).hits[0]).toMatchObject({ server: 'late' });
    expect((await serving.servers.list())[0]).not.toHaveProperty('failure');
  });

  it('CONN-3 a success anywhere clears the failure everywhere', async () => {
    const stateDir = await temporaryDirectory();
    const script = join(stateDir, 'server.mjs');
    const config: ConfigInput = { servers: { one: { command: process.execPath, args: [script] } } };
    const first = await openToolscout(config, { stateDir });
    await first.servers.discover();
    expect((await first.servers.list())[0]).toHaveProperty('failure');
    const other = await openToolscout(config, { stateDir });
    expect((await other.servers.list())[0]).toHaveProperty('failure');
    const [path] = fixture('legacy').args;
    await writeFile(script, `await import(${JSON.stringify(path)});`);
    const report = await first.reports.doctor();
    expect(report.findings.find(({ subject }) => subject === 'server one')).toMatchObject({ level: 'ok' });
    await waitUntil(async () => (await other.servers.list())[0]?.failure === undefined, {
      what: 'the other process to hear of it',
    });
  });

  it('CONN-3 EXEC-1 a call to a server that could not be learned fails at once the second time, with the cause and when to retry', async () => {
    const remote = await silentRemote();
    const gateway = await openToolscout({
      servers: { mute: { url: remote.url, connectTimeoutMs: 300 } },
      timeoutMs: 300,
      limits: { breakerFailures: 2 },
    });
    const first = await gateway.call('mute', 'x', {});
    expect(first.success).toBe(false);
    const asked = remote.asked();
    for (const code of [first.error!.code, 'CIRCUIT_OPEN', 'CIRCUIT_OPEN']) {
      const { error } = await gateway.call('mute', 'x', {});
      expect(error).toMatchObject({ code });
      expect(error!.retryAfterMs).toBeGreaterThan(0);
      expect(error!.message).toContain('Last error: ');
    }
    await expect(gateway.tools.list('mute')).rejects.toMatchObject({ code: 'CIRCUIT_OPEN' });
    expect(remote.asked()).toBe(asked);
    expect((await gateway.servers.list())[0]?.health.breaker).toBe('open');
  });

  it('CONN-3 EXEC-1 an open breaker names the last cause and when to try again', async () => {
    const stateDir = await temporaryDirectory();
    const script = join(stateDir, 'server.mjs');
    const [path] = fixture('legacy').args;
    await writeFile(script, `await import(${JSON.stringify(path)});`);
    const gateway = await openToolscout(
      {
        servers: { one: { command: process.execPath, args: [script], idleTimeoutMs: 1 } },
        limits: { breakerFailures: 1 },
      },
      { stateDir },
    );
    await gateway.servers.discover();
    await waitUntil(async () => (await gateway.servers.list())[0]?.health.state === 'disconnected');
    await writeFile(script, 'console.error("no licence found"); process.exit(3);');
    await gateway.call('one', 'echo', { message: 'x' });
    const { error } = await gateway.call('one', 'echo', { message: 'x' });
    expect(error).toMatchObject({
      code: 'CIRCUIT_OPEN',
      message: expect.stringContaining('no licence found') as string,
    });
    expect(error!.retryAfterMs).toBeGreaterThan(0);
  });

  it('EXEC-5 CONN-2 a server that could not be learned is in the audit log, without secrets', async () => {
    const env = { GONE_TOKEN: 'canary-7f3a91' };
    const servers = { gone: { command: '/no/such/${GONE_TOKEN}' }, off: { command: 'x', enabled: false } };
    const gateway = await openToolscout({ servers }, { env });
    await gateway.servers.discover(['gone', 'off']);
    const records = await gateway.audit.list({ kind: 'discovered' });
    const detail = { reason: expect.stringContaining('/no/such/') as string };
    const code = expect.any(String) as string;
    expect(records).toMatchObject([{ server: 'gone', outcome: 'failure', code, detail }]);
    expect(JSON.stringify(records)).not.toContain('canary');
  });

  it('CLI-3 doctor tells each finding as it comes, and everything once', async () => {
    const gateway = await openToolscout({
      servers: {
        mute: { ...fixture('slow', '--hang'), connectTimeoutMs: 1500 },
        keyed: { ...fixture('legacy'), env: { KEY: '${NO_SUCH_VARIABLE}' } },
        crash: { command: process.execPath, args: ['-e', 'console.error("no licence found"); process.exit(3)'] },
      },
      timeoutMs: 500,
    });
    const told: Finding[] = [];
    const waiting: string[][] = [];
    let waitedFor: string[] | undefined;
    const report = gateway.reports.doctor({
      onFinding(finding) {
        told.push(finding);
        if (finding.subject === 'server crash') waitedFor = waiting.at(-1);
      },
      onWaiting: (servers) => waiting.push([...servers]),
    });
    const { findings } = await report;
    expect(waitedFor).toContain('mute');
    expect(told.map(({ message }) => message).toSorted()).toEqual(findings.map(({ message }) => message).toSorted());
    expect(waiting.at(-1)).toEqual([]);
    expect(findings.filter(({ message }) => message.includes('NO_SUCH_VARIABLE'))).toHaveLength(1);

    const { stdout } = await commandLine(['doctor'], {
      gateway: await openToolscout({
        servers: { crash: { command: process.execPath, args: ['-e', 'console.error("no licence"); process.exit(3)'] } },
      }),
      checkConfig: async () => ({ source: 'x', problems: [], warnings: [] }),
    });
    // The command by hand, which is the advice, holds the words too.
    expect(stdout.split('\n').filter((line) => line.includes('no licence') && !line.includes('→'))).toHaveLength(1);
  });

  it.each([false, true])(
    'EXEC-1 answers with an empty or a further field beside the result or the error are taken over HTTP as over a pipe (as an event: %j)',
    async (isEvent) => {
      const { url } = await scriptedServer({
        tools: [scriptedTool('look'), scriptedTool('fail')],
        answer: (method, { name }) => {
          if (method !== 'tools/call') return undefined;
          const result = { content: [{ type: 'text', text: 'seen' }] };
          const error = { code: 'E_GONE', message: 'it is gone' };
          return { isEvent, result, beside: name === 'look' ? { error: null, took: 3 } : { result: null, error } };
        },
      });
      const gateway = await openToolscout({ servers: { far: { url } } });
      expect(await gateway.call('far', 'look', {})).toMatchObject({ success: true });
      const { error } = await gateway.call('far', 'fail', {});
      expect(error).toMatchObject({
        code: 'TOOL_EXECUTION_ERROR',
        message: 'The server "far" returned an error: it is gone',
      });
    },
  );
});
