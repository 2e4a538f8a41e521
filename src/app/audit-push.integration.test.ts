import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcp, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { patient, STARTS_PROCESSES } from '../../test/support/patience.js';
import { openGateway } from './open-gateway.js';

describe('pushing the audit log', STARTS_PROCESSES, () => {
  it('SEC-12 begins when a reload names a place, and goes to every place that is named', async () => {
    const bodies: string[] = [];
    const hook = createServer(async (request, response) => {
      bodies.push(await text(request));
      response.end();
    }).listen(0, '127.0.0.1');
    let messages = '';
    const syslog = createTcp((socket) => void socket.on('data', (chunk: Buffer) => (messages += chunk.toString())));
    syslog.listen(0, '127.0.0.1');
    await Promise.all([once(hook, 'listening'), once(syslog, 'listening')]);
    const port = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
    const folder = await temporaryDirectory();
    const config = join(folder, 'toolscout.config.json');
    await writeFile(config, '{}');
    const env = { AUDIT_SECRET: '0123456789abcdef', PATH: process.env['PATH'] };
    const gateway = await openGateway({ config, stateDir: join(folder, 'state'), env, cwd: folder });
    onTestFinished(async () => {
      await gateway.close({ drainMs: 0 });
      hook.close();
      syslog.close();
    });
    const siem = { type: 'webhook', url: `http://127.0.0.1:${port(hook)}/`, secret: '${AUDIT_SECRET}' };
    const log = { type: 'syslog', url: `tcp://127.0.0.1:${port(syslog)}` };
    await writeFile(config, JSON.stringify({ audit: { export: { siem, log } } }));
    await gateway.reload();
    await expect.poll(() => bodies.join(''), { timeout: patient(60_000) }).toContain('"kind":"reload"');
    await expect.poll(() => messages, { timeout: patient(60_000) }).toContain('act=reload');
    await gateway.reload();
    await expect.poll(() => bodies.join('').split('"kind":"reload"').length, { timeout: patient(60_000) }).toBe(3);
  });
});
