import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Host } from '../../src/model/host.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const HOST: Host = {
  id: 'ann',
  era: 'legacy',
  capabilities: { roots: {} },
  request: () => Promise.reject(new Error('it has nothing to say')),
  notify: () => undefined,
};

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a list that is read again after the first call on a connection', STARTS_PROCESSES, () => {
  it.each<[string, Partial<Host> | undefined]>([
    ['without a host', undefined],
    ['of a host of its own', {}],
    ['of the only host', { sole: true }],
    ['of a host that shares connections', { group: 'user' }],
    ['of a modern host', { era: 'modern' }],
    ['of a modern host that shares connections', { era: 'modern', group: 'user' }],
  ])('A12 STORE-6 a call %s starts one process, which is asked for its list too', async (_, about) => {
    const stateDir = await temporaryDirectory();
    const starts = join(stateDir, 'starts');
    const config = { servers: { old: fixture('legacy', `--start-file=${starts}`) } };
    const first = await openToolscout(config, { stateDir });
    await first.tools.list('old');
    await first.close();
    const gateway = await openToolscout(config, { stateDir });
    const learnedAt = async (): Promise<number> => (await gateway.servers.list())[0]?.learnedAt ?? 0;
    const before = await learnedAt();
    const options = about && { host: { ...HOST, ...about } };
    expect((await gateway.call('old', 'echo', { message: 'hi' }, options)).success).toBe(true);
    await expect.poll(learnedAt).toBeGreaterThan(before);
    // One process for the list of the first gateway, one for this call.
    expect((await readFile(starts, 'utf8')).trim().split('\n')).toHaveLength(2);
  });

  it.each<[string, Partial<Host>]>([
    ['of its own', {}],
    ['that is the only one', { sole: true }],
    ['that can be asked', { capabilities: { elicitation: {} } }],
    ['that shares connections', { group: 'user' }],
  ])('CONN-3 STORE-6 after the first call of a host %s one process of the server is left', async (_, about) => {
    const starts = join(await temporaryDirectory(), 'starts');
    const gateway = await openToolscout({ servers: { old: fixture('legacy', `--start-file=${starts}`) } });
    const host = { ...HOST, ...about };
    // Nothing is known yet: one process gives the list, as to a client that can do everything, and one is called.
    expect((await gateway.call('old', 'echo', { message: 'hi' }, { host })).success).toBe(true);
    const pids = (await readFile(starts, 'utf8')).trim().split('\n').map(Number);
    expect(pids).toHaveLength(2);
    await expect.poll(() => pids.map(isRunning)).toEqual([false, true]);
    expect((await gateway.call('old', 'echo', { message: 'hi' }, { host })).success).toBe(true);
    expect((await readFile(starts, 'utf8')).trim().split('\n')).toHaveLength(2);
  });
});
