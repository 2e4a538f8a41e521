import { describe, expect, it } from 'vitest';
import { commandLine, type Ran } from '../../../test/support/command-line.js';
import { fixture, temporaryDirectory } from '../../../test/support/fixture.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import type { ConfigInput } from '../../model/config.js';

/** Commands over one state directory, with two servers; every tool of theirs waits unless the config says otherwise. */
async function place(config: ConfigInput = { approval: 'manual' }): Promise<(...args: string[]) => Promise<Ran>> {
  const stateDir = await temporaryDirectory();
  const servers = { old: fixture('legacy'), new: fixture('modern') };
  return (...args) => commandLine(args, { gateway: () => openToolscout({ servers, ...config }, { stateDir }) });
}

describe('what waits for approval', STARTS_PROCESSES, () => {
  it('SEC-9 CLI-1 the commands that leave it out say how much there is and where to look, and never what', async () => {
    const run = await place();
    const one = await run('discover', 'old');
    expect(one.stderr).toBe('9 wait for approval: toolscout pending\n');
    const all = await run('discover');
    const both = Number(/^(\d+) wait for approval: toolscout pending\n$/.exec(all.stderr)?.[1]);
    expect(both).toBeGreaterThan(9);

    expect((await run('tools', 'old')).stderr).toBe('9 wait for approval: toolscout pending\n');
    expect((await run('servers')).stderr).toBe(`${both} wait for approval: toolscout pending\n`);
    const search = await run('search', 'echo', '--server', 'old');
    expect(search.code).toBe(2);
    expect(search.stderr).toMatch(/^No tool was found\.\nTry other words.*\n9 wait for approval: toolscout pending\n/);
    for (const ran of [one, all, search]) expect(ran.stdout + ran.stderr).not.toContain('echo');
  });

  it('CLI-1 JSON is as it was, and nothing is said where nothing waits', async () => {
    const run = await place();
    expect(await run('discover', '--json')).toMatchObject({ code: 0, stderr: '' });
    expect(await run('tools', 'old', '--json')).toMatchObject({ stdout: '{"server":"old","tools":[]}\n', stderr: '' });
    const trusting = await place({});
    expect((await trusting('discover')).stderr).toBe('');
    expect((await trusting('tools', 'old')).stderr).toBe('');
    expect((await trusting('servers')).stderr).toBe('');
  });

  it('SEC-9 what was rejected waits no longer', async () => {
    const run = await place();
    await run('discover', 'old');
    await run('reject', 'old:echo');
    expect((await run('tools', 'old')).stderr).toBe('8 wait for approval: toolscout pending\n');
    await run('reject', 'old', '--all');
    expect((await run('tools', 'old')).stderr).toBe('');
  });
});
