import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../../test/support/command-line.js';
import { fixture } from '../../../../test/support/fixture.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { ConfigInput } from '../../../model/config.js';

const keyed = { ...fixture('legacy'), env: { KEY: '${NO_SUCH_VARIABLE}' } };
const off = { ...fixture('legacy'), enabled: false };

/** One command over a config. */
const run = (config: ConfigInput, ...args: string[]) => commandLine(args, { gateway: () => openToolscout(config) });

describe('discover, warm and search', STARTS_PROCESSES, () => {
  it.each([['discover'], ['warm']])('DISC-3 %s says which servers it did not ask, and why', async (command) => {
    const config = { servers: { old: fixture('legacy'), keyed, off } };
    const all = await run(config, command);
    expect(all).toMatchObject({ code: 0, stdout: expect.stringContaining('9 tools') as string });
    expect(all.stderr).toMatch(/^not asked: keyed: .*NO_SUCH_VARIABLE/m);
    expect(all.stderr).toMatch(/^not asked: off: disabled in the configuration$/m);
    expect(all.stderr).not.toContain('not asked: old');
    const json = await run(config, command, '--json');
    expect(() => JSON.parse(json.stdout) as unknown).not.toThrow();
    expect(json.stderr).toContain('not asked: keyed');
  });

  it('DISC-3 discover says why a held server was not asked', async () => {
    const gateway = await openToolscout({ servers: {} });
    await gateway.servers.register({ id: 'held', ...fixture('legacy') });
    const { stdout, stderr, code } = await commandLine(['discover'], { gateway });
    expect({ stdout, code }).toEqual({ stdout: '', code: 0 });
    expect(stderr).toMatch(/^not asked: held: /m);
  });

  it('DISC-3 a server that is named is answered for, and only those that were not named are silent', async () => {
    const named = await run({ servers: { keyed, off } }, 'discover', 'keyed');
    expect(named).toMatchObject({ code: 1, stdout: expect.stringContaining('NO_SUCH_VARIABLE') as string });
    expect(named.stderr).not.toContain('not asked');
  });

  it.each([
    [['discover'], 0],
    [['warm'], 0],
    [['search', 'anything'], 2],
  ] as const)('DISC-3 FIND-5 %j says when no server is configured', async (args, code) => {
    const ran = await run({ servers: {} }, ...args);
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining('No server is configured') as string });
    expect(ran.stderr).not.toContain('No tool was found');
  });

  it('DISC-1 discover names each entry that was dropped, and warm counts what failed', async () => {
    const servers = { bad: fixture('malformed'), gone: { command: 'no-such-command-here' } };
    const ran = await run({ servers }, 'discover');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/✓ bad: \d+ tools, \d+ malformed dropped/);
    // Counted as doctor counts them.
    expect(ran.stdout).toContain('    entry 2: it has no name\n');
    expect(ran.stdout).toContain('    entry 11 big: it is larger than');
    expect(ran.stdout).toMatch(/✗ gone: /);
    const json = JSON.parse((await run({ servers }, 'discover', '--json')).stdout) as { servers: object[] };
    expect(json.servers).toEqual([
      expect.objectContaining({ server: 'bad', ok: true }),
      expect.objectContaining({ server: 'gone', ok: false, code: expect.stringMatching(/[A-Z_]+/) as string }),
    ]);
    const warm = await run({ servers }, 'warm', '--all');
    expect(warm).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/1 server learned, \d+ tools; 1 failed\n {2}gone: /) as string,
    });
    expect(JSON.parse((await run({ servers }, 'warm', '--json')).stdout)).toMatchObject({ successful: 1, failed: 1 });
  });

  it('DISC-6 discover says how the tools of a server without a handshake were found', async () => {
    const servers = { plain: fixture('speechless', '--says=plain'), prose: fixture('speechless', '--says=functions') };
    const ran = await run({ servers }, 'discover', '--lend-slots');
    expect(ran.stdout).toMatch(/plain: .*\(listed without a handshake, .*confidence/);
    expect(ran.stdout).toMatch(/prose: .*\(not callable: parsed, .*confidence/);
    const json = await run({ servers }, 'discover', 'plain', '--json');
    expect(json.stdout).toContain('"fallback":');
  });

  it('DISC-7 discover --raw shows what was said, to one server only, and ends with 1 when nothing was learned', async () => {
    const servers = { old: fixture('legacy'), gone: { command: 'no-such-command-here' } };
    const ran = await run({ servers }, 'discover', 'old', '--raw');
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('9 tools') as string });
    expect(ran.stdout).toMatch(/ms → .*tools\/list/);
    const json = await run({ servers }, 'discover', 'old', '--raw', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ server: 'old', outcome: { ok: true, tools: 9 } });
    expect((await run({ servers }, 'discover', 'gone', '--raw')).code).toBe(1);
    expect((await run({ servers }, 'discover', '--raw')).code).toBe(64);
    expect((await run({ servers }, 'discover', 'gone', '--raw', '--json')).stdout).toContain('"ok":false');
  });
});
