import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine, type Surroundings } from '../../../../test/support/command-line.js';
import { fixture, temporaryDirectory } from '../../../../test/support/fixture.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { DoctorReport } from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { ConfigInput } from '../../../model/config.js';
import { checkStore, openGateway } from '../../../app/open-gateway.js';

const PROBLEMS = [
  { path: 'servers.a.comand', message: 'unknown key; did you mean "command"?' },
  { path: 'cach', message: 'unknown key; did you mean "cache"?' },
];

/** A config that cannot be used, and a store that can. */
async function invalid(stateDir: string): Promise<Surroundings> {
  return {
    checkConfig: async () => ({ source: '/work/toolscout.config.json', problems: PROBLEMS, warnings: [] }),
    checkStore: () => checkStore({ stateDir }),
  };
}

describe('doctor with a config that cannot be used', STARTS_PROCESSES, () => {
  it('CLI-3 names every problem and the file, checks the store, and starts nothing', async () => {
    const stateDir = await temporaryDirectory();
    const ran = await commandLine(['doctor'], await invalid(stateDir));
    expect(ran.code).toBe(2);
    expect(ran.opened).toEqual([]);
    expect(ran.stdout).toContain('✗ config  servers.a.comand: unknown key; did you mean "command"?\n');
    expect(ran.stdout).toContain('✗ config  cach: unknown key; did you mean "cache"?\n');
    expect(ran.stdout).toContain(
      '→ fix it in /work/toolscout.config.json; toolscout config validate checks the file\n',
    );
    expect(ran.stdout).toContain(`✓ store  ${join(stateDir, 'toolscout.db')}\n`);
    expect(ran.stdout).toMatch(/! servers {2}not examined.*config/);
    expect(ran.stdout).toMatch(/Something needs attention/);
  });

  it('CLI-3 CLI-1 the same as JSON has the shape of every report', async () => {
    const ran = await commandLine(['doctor', '--json'], await invalid(await temporaryDirectory()));
    expect(ran.code).toBe(2);
    const report = JSON.parse(ran.stdout) as DoctorReport;
    expect(report).toMatchObject({ ok: false, schemas: [] });
    expect(report.findings.map(({ subject, level }) => `${level} ${subject}`)).toEqual([
      'error config',
      'error config',
      'ok store',
      'warning servers',
    ]);
  });

  it('CLI-3 a file that is not there or cannot be read at all is a finding too, even where the store is bad as well', async () => {
    const message = 'The config file /work/none.json does not exist or is not a file.';
    const ran = await commandLine(['doctor', '--json'], {
      checkConfig: () =>
        Promise.reject(new ToolscoutError('CONFIGURATION_ERROR', message, { suggestion: 'Check it.' })),
      checkStore: () => checkStore({ stateDir: '/proc/x' }),
    });
    expect(ran.code).toBe(2);
    const { findings } = JSON.parse(ran.stdout) as DoctorReport;
    expect(findings[0]).toEqual({ subject: 'config', level: 'error', message, next: 'Check it.' });
    expect(findings[1]).toMatchObject({ subject: 'store', level: 'error' });
    expect(findings[1]?.message).toContain('/proc/x/toolscout.db');
  });

  it('CLI-3 the demo has no config that could be at fault', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const ran = await commandLine(['doctor', '--demo'], { ...(await invalid(await temporaryDirectory())), gateway });
    expect(ran.code).toBe(0);
  });
});

describe('doctor with a state directory that cannot be used', STARTS_PROCESSES, () => {
  const config = { servers: { old: fixture('legacy') } };

  it('CLI-3 STORE-2 the store is at fault, and the servers are examined all the same', async () => {
    const folder = await temporaryDirectory();
    await writeFile(join(folder, 'file'), '');
    await symlink(await temporaryDirectory(), join(folder, 'link'));
    for (const stateDir of [join(folder, 'file'), join(folder, 'link'), '/proc/x']) {
      const ran = await commandLine(['doctor', '--state-dir', stateDir], {
        gateway: (options) => openGateway({ ...options, config }),
      });
      expect(ran.code, stateDir).toBe(1);
      expect(ran.stdout).toMatch(/^✓ config/m);
      expect(ran.stdout).toContain(`✗ store  `);
      expect(ran.stdout).toContain(stateDir);
      expect(ran.stdout).toMatch(/^ {4}→ .*--state-dir/m);
      expect(ran.stdout).not.toContain('toolscout doctor');
      expect(ran.stdout).toMatch(/^✓ server old/m);
      expect(ran.stderr).toBe('');
    }
  });

  it('CLI-2 what has nothing to do with the store is still an error of its own', async () => {
    const ran = await commandLine(['doctor'], {
      gateway: () => Promise.reject(new ToolscoutError('FORBIDDEN', 'No.')),
    });
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toContain('FORBIDDEN: No.');
  });
});

describe('the last word of doctor', STARTS_PROCESSES, () => {
  const say = async (config: ConfigInput): Promise<{ code: number; lines: string[] }> => {
    const { code, stdout } = await commandLine(['doctor'], { gateway: await openToolscout(config) });
    return { code, lines: stdout.trimEnd().split('\n') };
  };

  it('CLI-3 SEC-9 all is not well while tools wait for approval', async () => {
    const { code, lines } = await say({ servers: { old: fixture('legacy') }, approval: 'manual' });
    expect(code).toBe(0);
    const at = lines.findIndex((line) => /^! server old .*0 of 9 tools offered, 9 wait for approval$/.test(line));
    expect(at).toBeGreaterThan(-1);
    expect(lines[at + 1]).toBe('    → look at them: toolscout pending');
    expect(lines.at(-1)).toBe('Nothing is broken; see the warnings above.');
  });

  it('CLI-3 nor where no server is configured or one is held; only where nothing is to be said', async () => {
    expect((await say({})).lines.at(-1)).toBe('Nothing is broken; see the warnings above.');
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await gateway.servers.register({ id: 'found', command: process.execPath, args: [] });
    const held = await commandLine(['doctor'], { gateway });
    expect(held.stdout).toMatch(/^! server found/m);
    expect(held.stdout).toMatch(/Nothing is broken; see the warnings above\.\n$/);
    expect((await say({ servers: { old: fixture('legacy') } })).lines.at(-1)).toBe('All is well.');
  });

  it('CLI-3 SEC-9 a server that was rejected is named with how to take that back', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await gateway.approvals.reject('old');
    const { findings } = await gateway.reports.doctor();
    expect(findings.find(({ subject }) => subject === 'server old')).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('rejected') as string,
      next: 'take it out of the config, or trust it after all: toolscout approve old',
    });
    await gateway.approvals.approve('old');
    expect((await gateway.reports.doctor()).findings.find(({ subject }) => subject === 'server old')?.level).toBe('ok');
  });
});
