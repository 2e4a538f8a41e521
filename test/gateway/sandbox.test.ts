import { spawnSync } from 'node:child_process';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../support/command-line.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openToolscout, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

/** A program that starts what follows `--` and tells it what it was given itself. */
const WRAPPER = `
const at = process.argv.indexOf('--');
const { spawn } = require('node:child_process');
const [command, ...args] = process.argv.slice(at + 1);
const env = { ...process.env, WRAPPED: JSON.stringify(process.argv.slice(1, at)) };
spawn(command, args, { stdio: 'inherit', env }).on('exit', (code) => process.exit(code ?? 1));
`;
const wrapper = [process.execPath, '-e', WRAPPER, 'in', 'cwd={cwd}', '{env}', '--'];

const UNSHARE = ['unshare', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child'];
const canUnshare = spawnSync(UNSHARE[0]!, [...UNSHARE.slice(1), 'true']).status === 0;

interface Started {
  readonly env: Record<string, string>;
  readonly parent: number;
}
const started = async (gateway: Awaited<ReturnType<typeof openToolscout>>, server: string): Promise<Started> =>
  JSON.parse(textOf(await gateway.call(server, 'start', {}))) as Started;

describe('servers in a sandbox', STARTS_PROCESSES, () => {
  it('A49 S25 every local server is started through the command, with its folder and the names of its variables', async () => {
    const cwd = await realpath(await temporaryDirectory());
    const one = { ...fixture('curious'), cwd, env: { FIRST: '1', SECOND: '2' } };
    const servers = { one, free: { ...fixture('curious'), sandbox: false as const } };
    const gateway = await openToolscout({ servers, sandbox: { command: wrapper } });
    const { env } = await started(gateway, 'one');
    expect(JSON.parse(env['WRAPPED']!)).toEqual(['in', `cwd=${cwd}`, '-e', 'FIRST', '-e', 'SECOND']);
    expect(env).toMatchObject({ FIRST: '1', SECOND: '2' });
    expect((await started(gateway, 'free')).env['WRAPPED']).toBeUndefined();
    const [shownFree, shownOne] = (await gateway.servers.list()).map(({ transport }) => transport.target);
    expect(shownOne).toContain(`cwd=${cwd}`);
    expect(shownOne).toMatch(/ -- .*curious\.mjs$/);
    expect(shownFree).not.toContain('cwd=');
    const doctor = await commandLine(['doctor', '--json'], { gateway, checkStore: async () => [] });
    expect(doctor.stdout).toContain('1 of 2 local servers run in a sandbox; without one: free');
  });

  it('A49 A42 a server of a project cannot leave the sandbox or name a command of its own', async () => {
    const project = await temporaryDirectory();
    await mkdir(join(project, '.cursor'));
    const entry = { ...fixture('curious'), sandbox: { command: ['/bin/sh', '-c', 'touch /tmp/never'] } };
    await writeFile(join(project, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { found: entry } }));
    const gateway = await openToolscout({
      sources: [{ type: 'cursor', scope: 'project', project }],
      sandbox: { command: wrapper },
    });
    const [found] = await gateway.servers.list();
    expect(found!.transport.target).toContain('cwd=');
    expect(found!.transport.target).not.toContain('/bin/sh');
  });

  it('A49 S25 a registered server runs in the sandbox of the config, and its variables do not', async () => {
    const { command, args } = fixture('curious') as { command: string; args: string[] };
    const cwd = await realpath(await temporaryDirectory());
    const env = { PATH: process.env['PATH'], PLACE: 'here' };
    const box = { command: [...wrapper.slice(0, 3), '${PLACE}', ...wrapper.slice(3)] };
    const gateway = await openToolscout({ sandbox: box }, { cwd, env });
    await gateway.servers.register({ id: 'found', command, args }, { by: 'ann' });
    const [waiting] = await gateway.approvals.list();
    expect(waiting!.target).toContain(`here in cwd=${cwd}`);
    await gateway.approvals.approve('found', { by: 'ann', hash: waiting!.hash });
    const found = await started(gateway, 'found');
    expect(JSON.parse(found.env['WRAPPED']!)).toEqual(['here', 'in', `cwd=${cwd}`]);
    expect(found.env['PLACE']).toBeUndefined();
    const leaving = gateway.servers.register({ id: 'other', command: '--bind=/', args }, { by: 'ann' });
    await expect(leaving).rejects.toThrow('begins with "-"');
  });

  it('A49 EXEC-3 a sandbox that is not installed is named, and nothing runs without it', async () => {
    const gateway = await openToolscout({
      servers: { one: fixture('curious') },
      sandbox: { command: ['no-such-sandbox'] },
    });
    const { error } = await gateway.call('one', 'start', {});
    expect(error).toMatchObject({ code: 'SERVER_CONNECTION_ERROR' });
    expect(error!.message).toContain('"no-such-sandbox" was not found');
  });

  it.skipIf(!canUnshare)(
    'A49 A33 in namespaces of its own a server cannot read the environment of toolscout',
    async () => {
      const servers = { boxed: fixture('curious'), free: { ...fixture('curious'), sandbox: false as const } };
      const gateway = await openToolscout({ servers, sandbox: { command: UNSHARE } });
      const look = async (server: string): Promise<string> => {
        const path = `/proc/${(await started(gateway, 'free')).parent}/environ`;
        return textOf(await gateway.call(server, 'look', { path }));
      };
      // Without a sandbox it can: that is why there is one.
      expect(await look('free')).toContain('PATH=');
      expect(await look('boxed')).toMatch(/^cannot be read/);
    },
  );
});
