import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { fixture, waitUntil } from '../support/fixture.js';
import { CLI, lineMatching, workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const OPEN_FILES = 56;

it.skipIf(!existsSync('/bin/sh'))(
  'R10 without a free file toolscout lives on, says when to come back, and works again once there is one',
  STARTS_PROCESSES,
  async () => {
    const rateLimit = { requestsPerSecond: 100_000, burstSize: 100_000 };
    const place = await workplace({ servers: { old: { ...fixture('legacy'), rateLimit } } });
    const command = `ulimit -n ${OPEN_FILES}; exec "$0" "$@"`;
    const args = [process.execPath, CLI, 'serve', '--port', '0', ...place.flags];
    const child = spawn('/bin/sh', ['-c', command, ...args], { cwd: place.folder, stdio: 'pipe' });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stderr.resume();
    const [, base] = await lineMatching(child, /MCP endpoint\s+(http:\S+)\/mcp/);
    const port = Number(new URL(base!).port);
    const body = JSON.stringify({ server: 'old', tool: 'echo', arguments: { message: 'x' } });
    const request =
      `POST /v1/call HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`;
    const call = async (): Promise<number> => {
      const headers = { 'content-type': 'application/json', connection: 'close' };
      return (await fetch(`${base}/v1/call`, { method: 'POST', headers, body })).status;
    };

    const crowd: Socket[] = [];
    const answers: string[] = [];
    for (let client = 0; client < 2 * OPEN_FILES; client++) {
      const socket = connect(port, '127.0.0.1');
      // A refused connection is expected here.
      socket.on('error', () => socket.destroy());
      socket.setEncoding('utf8').on('data', (text: string) => answers.push(text));
      crowd.push(socket);
    }
    await waitUntil(() => crowd.every(({ connecting }) => !connecting), { what: 'the crowd' });
    for (const socket of crowd) if (!socket.destroyed) socket.write(request);
    await waitUntil(() => answers.length > 0, { what: 'an answer', timeoutMs: 60_000 });
    for (const socket of crowd) socket.destroy();

    // Every answer is a result or a refusal with a retry time.
    const heads = answers.filter((text) => text.startsWith('HTTP/1.1'));
    expect(heads.filter((text) => !/^HTTP\/1\.1 (200|503)/.test(text))).toEqual([]);
    for (const text of heads.filter((each) => each.startsWith('HTTP/1.1 503'))) {
      expect(text.toLowerCase()).toContain('\r\nretry-after: ');
    }
    await waitUntil(async () => (await call().catch(() => 0)) === 200, { what: 'a call', timeoutMs: 60_000 });
    expect(child.exitCode).toBeNull();
  },
);
