import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditVerification } from '../../src/model/audit-chain.js';
import type { AuditRecord } from '../../src/model/audit-record.js';
import { signDelivery } from '../../src/audit/sinks/webhook.js';
import { fixture } from '../support/fixture.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';
import { CLI, workplace } from '../support/toolscout.js';

const SECRET = '0123456789abcdef';

/** A webhook that counts what it gets and answers only some deliveries. */
async function webhook(): Promise<{ readonly url: string; readonly ids: string[]; readonly bad: string[] }> {
  const ids: string[] = [];
  const bad: string[] = [];
  let count = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const signature = String(request.headers['toolscout-signature']);
    if (signature !== signDelivery(SECRET, Number(/^t=(\d+)/.exec(signature)?.[1]), body)) bad.push(signature);
    count += 1;
    // Every other delivery is refused, so that many deaths fall between a delivery and its note.
    if (count % 2 === 0) return void response.writeHead(503).end();
    ids.push(
      ...body
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as AuditRecord).id),
    );
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, ids, bad };
}

describe('the audit log', STARTS_PROCESSES, () => {
  it('SEC-12 A35 verify finds what was changed in the file, export prints it, and a second process sees the same', async () => {
    const place = await workplace({ servers: { legacy: fixture('legacy') } });
    await place.run('call', 'legacy', 'echo', 'message=hello');
    const found = await place.run('audit', 'verify', '--json');
    expect(found).toMatchObject({ code: 0 });
    const { ok, records, heads } = JSON.parse(found.stdout) as AuditVerification;
    expect(ok).toBe(true);
    expect(records).toBeGreaterThan(0);
    const { chain, number, hash } = heads[0]!;
    expect((await place.run('audit', 'verify', '--head', `${chain}:${number}:${hash}`)).stdout).toContain(
      'are unchanged.',
    );
    expect((await place.run('audit', 'verify', '--head', 'nonsense')).code).toBe(64);

    const exported = await place.run('audit', 'export', '--format', 'cef', '--since', '1h');
    expect(exported.stdout).toMatch(/^CEF:0\|toolscout\|.*cs2=echo/m);
    const position = /^position (\d+)$/m.exec(exported.stderr)?.[1];
    const rest = await place.run('audit', 'export', '--after', String(position));
    expect(
      rest.stdout
        .trimEnd()
        .split('\n')
        .filter((line) => line.includes('"echo"')),
    ).toEqual([]);

    const database = new Database(join(place.folder, 'state', 'toolscout.db'));
    database.exec(`update audit set body = replace(body, 'legacy', 'other') where tool = 'echo'`);
    const [row] = database.prepare(`select id from audit where tool = 'echo'`).all() as Array<{ id: string }>;
    database.close();
    const broken = await place.run('audit', 'verify');
    expect(broken.code).toBe(4);
    expect(broken.stdout).toContain(`changed: record ${row!.id}`);
  });

  it('SEC-12 export to a webhook resumes after kill -9 without loss', async () => {
    const { url, ids, bad } = await webhook();
    const place = await workplace({
      servers: { legacy: fixture('legacy') },
      audit: { export: { siem: { type: 'webhook', url, secret: `\${TOOLSCOUT_TEST_AUDIT_SECRET:-${SECRET}}` } } },
    });
    for (let round = 0; round < 3; round++) {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [CLI, 'serve', '--stdio', ...place.flags],
        stderr: 'ignore',
      });
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport);
      const before = ids.length;
      for (let at = 0; at < 20; at++) {
        await client.callTool({
          name: 'execute_tool',
          arguments: { server: 'legacy', tool: 'echo', arguments: { message: `${round}-${at}` } },
        });
      }
      // The last round is left to finish; the others die in the middle of their deliveries.
      if (round < 2) await expect.poll(() => ids.length, { timeout: patient(60_000) }).toBeGreaterThan(before);
      process.kill(transport.pid!, 'SIGKILL');
      await client.close();
    }
    const stored = new Set<string>();
    const listed = await place.run('audit', 'export');
    for (const line of listed.stdout.trimEnd().split('\n')) stored.add((JSON.parse(line) as AuditRecord).id);
    // What was delivered is in the log.
    expect(ids.filter((id) => !stored.has(id))).toEqual([]);
    const last = place.start('serve', '--stdio');
    await expect.poll(() => [...stored].filter((id) => !ids.includes(id)), { timeout: patient(90_000) }).toEqual([]);
    last.kill('SIGKILL');
    expect(bad).toEqual([]);
    expect((await place.run('audit', 'verify')).code).toBe(0);
  });
});
