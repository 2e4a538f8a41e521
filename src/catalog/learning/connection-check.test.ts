import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import type { Server } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';
import { createConnectionCheck, type ConnectionCheckDeps } from './connection-check.js';

const LOCAL = { id: 'notes', digest: 'one', transport: { type: 'stdio', command: 'notes' } } as unknown as Server;
const REMOTE = {
  id: 'far',
  digest: 'one',
  transport: { type: 'http', url: 'https://far.example' },
} as unknown as Server;
const connection = (): Upstream => ({}) as Upstream;

function setUp(given: Partial<ConnectionCheckDeps> = {}) {
  const clock = createFakeClock();
  const reads: string[] = [];
  const check = createConnectionCheck({
    ready: new WeakSet(),
    clock,
    patienceMs: () => 2000,
    isDue: () => true,
    read: async ({ id }) => reads.push(id),
    ...given,
  });
  const before = (server: Server, upstream: Upstream): Promise<void> | undefined =>
    check.before(server, upstream, () => 'its key');
  return { clock, reads, check, before };
}

describe('createConnectionCheck', () => {
  it('A12 has the list read on a new process once, and all requests that came meanwhile wait for it', async () => {
    const { reads, before } = setUp();
    const first = connection();
    const waits = [before(LOCAL, first), before(LOCAL, first)];
    expect(waits[0]).toBeInstanceOf(Promise);
    expect(waits[1]).toBe(waits[0]);
    await waits[0];
    expect([before(LOCAL, first), reads]).toEqual([undefined, ['notes']]);
    await before(LOCAL, connection());
    expect(reads).toEqual(['notes', 'notes']);
  });

  it('A12 asks a remote server once for all connections, and again when its config changes', async () => {
    const { reads, before } = setUp();
    await before(REMOTE, connection());
    expect(before(REMOTE, connection())).toBeUndefined();
    await before({ ...REMOTE, digest: 'two' }, connection());
    expect(reads).toEqual(['far', 'far']);
  });

  it('A12 asks nothing on a connection whose list was read, or of a server that is not to be asked now', () => {
    const { check, before, reads } = setUp();
    const known = connection();
    check.noteListed(LOCAL, known);
    expect(before(LOCAL, known)).toBeUndefined();
    expect(setUp({ isDue: () => false }).before(LOCAL, connection())).toBeUndefined();
    expect(reads).toEqual([]);
  });

  it('A12 a connection that could not be checked at its first request is checked at a later one', async () => {
    let isDue = false;
    const { before, reads } = setUp({ isDue: () => isDue });
    const upstream = connection();
    expect(before(LOCAL, upstream)).toBeUndefined();
    isDue = true;
    await before(LOCAL, upstream);
    expect(reads).toEqual(['notes']);
  });

  it('A12 A50 a list that takes too long does not stop the request', async () => {
    const { clock, before } = setUp({ read: () => new Promise(() => undefined) });
    const slow = connection();
    const wait = before(LOCAL, slow);
    await clock.advance(2000);
    await wait;
    expect(before(LOCAL, slow)).toBeUndefined();
    expect(clock.waiting).toBe(0);
  });
});
