import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { fixture, isAlive, waitUntil } from '../support/fixture.js';
import { repetitions } from '../support/long-form.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';
import { lineMatching, workplace, type Workplace } from '../support/toolscout.js';

interface Caller {
  readonly child: ChildProcess;
  /** Runs a tool that takes so long; the answer as text, or why there is none. */
  wait(ms: number): Promise<string>;
}

const waiting = (ms: number): JsonObject => ({ tool: 'look', arguments: { id: `waited ${ms}`, ms } });

/** Resolves when so many calls have arrived at the server. */
const arrived = (journal: string, count: number): Promise<void> =>
  waitUntil(() => existsSync(journal) && readFileSync(journal, 'utf8').split('\n').length > count, {
    what: `${count} calls to arrive`,
  });

async function overHttp(place: Workplace): Promise<Caller> {
  const child = place.start('serve', '--port', '0');
  child.stderr!.resume();
  const [, base] = await lineMatching(child, /MCP endpoint\s+(http:\S+)\/mcp/);
  return {
    child,
    async wait(ms) {
      const body = JSON.stringify({ server: 'slow', ...waiting(ms) });
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      const answer = await fetch(`${base}/v1/call`, init);
      return `${answer.status} ${await answer.text()}`;
    },
  };
}

async function overStdio(place: Workplace): Promise<Caller> {
  const child = place.start('serve', '--stdio');
  child.stderr!.resume();
  const answers = new Map<unknown, (text: string) => void>();
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const message = JSON.parse(line) as JsonObject;
    answers.get(message['id'])?.(line);
    answers.delete(message['id']);
  });
  // Whatever was not answered by the end is not answered any more.
  child.once('exit', () => {
    for (const resolve of answers.values()) resolve('no answer');
  });
  let last = 0;
  const ask = (method: string, params: JsonObject): Promise<string> =>
    new Promise((resolve) => {
      answers.set(++last, resolve);
      child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
    });
  const clientInfo = { name: 'drain', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    child,
    wait: (ms) => ask('tools/call', { name: 'execute_tool', arguments: { server: 'slow', ...waiting(ms) } }),
  };
}

describe.each([
  ['HTTP', overHttp, /^ECONN/],
  ['stdio', overStdio, /SHUTTING_DOWN/],
] as const)('SIGTERM over %s', (_front, open, refusal) => {
  it(
    'R7 calls in flight are answered, a new call is refused, the exit code is 0, and no process is left',
    { timeout: patient(900_000) },
    async () => {
      const rounds = repetitions(1, 20);
      for (let round = 0; round < rounds; round++) {
        const place = await workplace({});
        const [pids, journal] = [join(place.folder, 'pids'), join(place.folder, 'journal')];
        await place.write({ servers: { slow: fixture('effects', `--start-file=${pids}`, `--file=${journal}`) } });
        const { child, wait } = await open(place);
        const running = Array.from({ length: 5 }, () => wait(3500));
        await arrived(journal, 5);
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        // The signal has arrived once a call is refused; until then it is work like any other.
        let late = '';
        await waitUntil(
          async () => {
            late = await wait(1).catch((thrown: Error) => String((thrown.cause as { code?: string })?.code));
            return !late.includes('waited 1');
          },
          { what: 'a refusal' },
        );
        // Over HTTP it does not even connect, so that a load balancer asks another replica.
        expect(late).toMatch(refusal);
        for (const answer of await Promise.all(running)) expect(answer).toContain('waited 3500');
        expect((await exited)[0]).toBe(0);
        const children = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
        await waitUntil(() => !children.some(isAlive), { timeoutMs: 10_000, what: 'the children to end' });
      }
    },
  );

  it(
    'R7 a call that outlasts the deadline ends with a typed error, and the exit code is still 0',
    STARTS_PROCESSES,
    async () => {
      const place = await workplace({});
      const [pids, journal] = [join(place.folder, 'pids'), join(place.folder, 'journal')];
      await place.write({ servers: { slow: fixture('effects', `--start-file=${pids}`, `--file=${journal}`) } });
      const { child, wait } = await open(place);
      const running = wait(600_000);
      await arrived(journal, 1);
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      expect(await running).toMatch(/SHUTTING_DOWN|SERVER_CONNECTION_ERROR|CANCELLED/);
      expect((await exited)[0]).toBe(0);
      const children = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
      await waitUntil(() => !children.some(isAlive), { timeoutMs: 10_000, what: 'the children to end' });
    },
  );
});
