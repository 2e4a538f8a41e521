import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, waitUntil } from '../support/fixture.js';
import { repetitions } from '../support/long-form.js';
import { CLI, lineMatching, workplace } from '../support/toolscout.js';
import { patient } from '../support/patience.js';

/** The heap of the toolscout that is flooded, in MB. */
const HEAP = 96;
/** Where other programs have the processors, a request may take the minute after which it is ended (A29). */
const UNSERVED = patient(1) > 1 ? [503, 408] : [503];

interface Served {
  readonly base: string;
  readonly pid: number;
  exitCode(): number | NodeJS.Signals | null;
  post(path: string, body: string): Promise<{ readonly status: number; readonly retryAfter: string | null }>;
}

async function serveWithLittle(): Promise<Served> {
  const servers = { slow: { ...fixture('slow'), timeoutMs: 120_000 }, large: fixture('large') };
  const place = await workplace({ servers });
  const env = { ...process.env, NODE_OPTIONS: `--max-old-space-size=${HEAP}` };
  const child = spawn(process.execPath, [CLI, 'serve', '--port', '0', ...place.flags], { cwd: place.folder, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr.resume();
  const [, base] = await lineMatching(child, /MCP endpoint\s+(http:\S+)\/mcp/);
  return {
    base: base!,
    pid: child.pid!,
    exitCode: () => child.exitCode ?? child.signalCode,
    async post(path, body) {
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      const answer = await fetch(`${base}${path}`, init);
      await answer.arrayBuffer();
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
    },
  };
}

const call = (server: string, tool: string, args: object): string => JSON.stringify({ server, tool, arguments: args });

describe('a toolscout with little memory', { timeout: patient(900_000) }, () => {
  it('R12 calls that together need more memory than there is are refused with 503; it lives, and works afterwards', async () => {
    const served = await serveWithLittle();
    const pad = 'x'.repeat(200_000);
    const body = call('slow', 'wait', { ms: 4000, steps: 0, progress: false, pad });
    const waves = repetitions(1, 10);
    for (let wave = 0; wave < waves; wave++) {
      // Four times of what the heap could hold.
      const calls = Array.from({ length: 500 }, () => served.post('/v1/call', body));
      const health = await fetch(`${served.base}/health`);
      expect(health.status).toBe(200);
      const answers = await Promise.all(calls);
      const refused = answers.filter(({ status }) => status === 503);
      expect(answers.filter(({ status }) => status !== 200 && !UNSERVED.includes(status))).toEqual([]);
      expect(refused.length).toBeGreaterThan(0);
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
      expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true);
      expect(served.exitCode()).toBeNull();
      const again = call('slow', 'echo', { message: 'again' });
      await waitUntil(async () => (await served.post('/v1/call', again)).status === 200, { what: 'a call again' });
    }
    expect(await (await fetch(`${served.base}/metrics`)).text()).toMatch(
      /toolscout_shed_total\{reason="memory"\} [1-9]/,
    );
  });

  it('R12 A28 large results of many calls at once do not end it', async () => {
    const served = await serveWithLittle();
    const body = call('large', 'read_bytes', { count: 1_600_000 });
    const rounds = repetitions(1, 30);
    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(Array.from({ length: 60 }, () => served.post('/v1/call', body)));
      expect(answers.filter(({ status }) => status !== 200 && !UNSERVED.includes(status))).toEqual([]);
      expect(served.exitCode()).toBeNull();
    }
    const again = call('slow', 'echo', { message: 'again' });
    await waitUntil(async () => (await served.post('/v1/call', again)).status === 200, { what: 'a call again' });
  });
});
