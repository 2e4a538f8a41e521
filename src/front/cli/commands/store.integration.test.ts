import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../../test/support/command-line.js';
import { temporaryDirectory } from '../../../../test/support/fixture.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';
import type { AuditRecord } from '../../../model/audit-record.js';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

describe('toolscout store', STARTS_PROCESSES, () => {
  it('STORE-2 status says where the store is and that it can be written', async () => {
    const stateDir = await temporaryDirectory();
    const gateway = (): Promise<Gateway> => openToolscout({}, { stateDir });
    const ran = await commandLine(['store', 'status'], { gateway });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toContain(stateDir);
    expect(ran.stdout).toContain('can be written');
    expect(JSON.parse((await commandLine(['store', 'status', '--json'], { gateway })).stdout)).toMatchObject({
      writable: true,
    });
  });

  it('A48 accept says that there is nothing to accept, or accepts what vanished', async () => {
    const stateDir = await temporaryDirectory();
    const gateway = (): Promise<Gateway> => openToolscout({}, { stateDir });
    const fine = await commandLine(['store', 'accept'], { gateway });
    expect(fine).toMatchObject({ code: 0, stdout: '' });
    expect(fine.stderr).toContain('nothing to accept');
    expect((await commandLine(['store', 'accept', '--json'], { gateway })).stdout).toBe('{"accepted":null}\n');

    for (const end of ['', '-wal', '-shm']) await rm(join(stateDir, `toolscout.db${end}`), { force: true });
    const doubtful = await commandLine(['store', 'status'], { gateway });
    expect(doubtful.stdout).toMatch(/not accepted: .*toolscout store accept/);
    const accepted = await commandLine(['store', 'accept', '--reason', 'a new disk'], { gateway });
    expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining('Accepted the store') as string });
    expect((await commandLine(['store', 'status'], { gateway })).stdout).not.toContain('not accepted');
  });

  it('STORE-5 migrate copies one folder to another and prints what it copied', async () => {
    const [from, to] = [await temporaryDirectory(), await temporaryDirectory()];
    const gateway = await openToolscout({}, { stateDir: from });
    await gateway.config.acceptStore({ by: 'local', reason: 'a record to copy' });
    await gateway.close({ drainMs: 0 });
    const process = { cwd: from, env: {} };
    const ran = await commandLine(['store', 'migrate', `sqlite:${from}`, `sqlite:${to}`], { process });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/audit records {2}\d+\nThe copy is the same \(sha256 [0-9a-f]{16}…\)/);
    const again = await commandLine(['store', 'migrate', `sqlite:${from}`, `sqlite:${to}`], { process });
    expect(again.code).not.toBe(0);
    expect(again.stdout).toBe('');
  });

  it('A35 STORE-5 migrate refuses an audit log in which somebody changed a record, and says later that it was accepted', async () => {
    const [from, to] = [await temporaryDirectory(), await temporaryDirectory()];
    const gateway = await openToolscout({}, { stateDir: from });
    await gateway.search('ada');
    await gateway.close({ drainMs: 0 });
    const database = new Database(join(from, 'toolscout.db'));
    expect(
      database.prepare(`update audit set body = replace(body, 'success', 'failure')`).run().changes,
    ).toBeGreaterThan(0);
    database.close();
    const process = { cwd: from, env: {} };
    const migrate = (...more: string[]) =>
      commandLine(['store', 'migrate', `sqlite:${from}`, `sqlite:${to}`, ...more], { process });
    expect(await migrate()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: /changed after it was written.*--accept-audit/s,
    });
    expect(await migrate('--accept-audit')).toMatchObject({ code: 0, stderr: /The copy has a new chain/ });
    const copy = await openToolscout({}, { stateDir: to });
    const [record] = (await copy.audit.list({ kind: 'store-migrate' })) as readonly AuditRecord[];
    expect(record?.detail).toHaveProperty('auditProblem');
  });
});
