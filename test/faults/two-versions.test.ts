import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { becomes, load, startCluster, startReplica, type Replica } from '../support/cluster.js';
import { temporaryDirectory, waitUntil } from '../support/fixture.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { workplace } from '../support/toolscout.js';
import { patient } from '../support/patience.js';

/** The built command line of an older version: `git worktree add /tmp/old COMMIT`, then `npm run build` there. */
const OLD = process.env['TOOLSCOUT_TEST_OLD_CLI'] ?? '';

let postgres: TestPostgres;
beforeAll(async () => {
  if (existsSync(OLD)) postgres = await startPostgres();
}, patient(60_000));
afterAll(() => postgres?.cleanup());

const decide = async ({ get, post }: Replica, verb: 'approve' | 'reject', reason: string): Promise<void> => {
  await get('/v1/approvals/notes:read/diff');
  await waitUntil(async () => (await post(`/v1/approvals/notes:read/${verb}`, { reason })).status === 200, {
    what: `${verb} ${reason}`,
  });
};
const reasonsAt = async ({ get }: Replica): Promise<unknown[]> => {
  const { records } = await get<{ records: Array<{ kind: string; detail?: JsonObject }> }>('/v1/audit?limit=1000');
  return records.filter(({ kind }) => kind === 'approve' || kind === 'reject').map(({ detail }) => detail?.['reason']);
};

/** Replicas of the old version, then some of the new one beside them, then only new ones; calls go on all the time. */
async function upgrade(store: string | undefined): Promise<void> {
  const old = { cli: OLD };
  const shared = store === undefined ? { folder: await temporaryDirectory() } : undefined;
  const started = await startCluster(store ?? 'sqlite', {}, [old, old, old], shared?.folder);
  const [one, two, three] = started.replicas;
  await becomes(started.replicas, 'ran');
  let live: readonly Replica[] = [one, two];
  const calls = load(() => live, 5);
  await decide(one, 'reject', 'by old');
  await becomes(started.replicas, 'APPROVAL_REQUIRED');
  await decide(two, 'approve', 'by old too');
  await becomes(started.replicas, 'ran');
  const fresh = await startReplica(await workplace(started.config, { stateDir: shared?.folder }));
  await becomes([fresh], 'ran');
  live = [one, two, fresh];
  const all = [one, two, three, fresh];
  // Each version obeys what the other one decides, and learns what it learned.
  await decide(fresh, 'reject', 'by new');
  await becomes(all, 'APPROVAL_REQUIRED');
  await decide(one, 'approve', 'by old after new');
  await becomes(all, 'ran');
  await started.show('Reads a note and mails it.');
  expect((await fresh.post('/v1/servers/notes/discover', {})).status).toBe(200);
  await becomes(all, 'TOOL_CHANGED');
  await decide(two, 'approve', 'the change');
  await becomes(all, 'ran');
  live = [fresh];
  for (const each of started.replicas) each.child.kill('SIGKILL');
  await becomes([fresh], 'ran');
  const ends = await calls.stop();
  const reasons = ['the change', 'by old after new', 'by new', 'by old too', 'by old'];
  expect(await reasonsAt(fresh)).toEqual(reasons);
  const others = [...ends].filter(([end]) => end !== 'ran' && !/APPROVAL_REQUIRED|TOOL_CHANGED/.test(end));
  expect(others).toEqual([]);
  expect(await fresh.get('/v1/audit/verification')).toMatchObject({ ok: true });
}

describe.skipIf(!existsSync(OLD))(
  'two versions side by side (set TOOLSCOUT_TEST_OLD_CLI to the built command line of an older version)',
  { timeout: patient(180_000) },
  () => {
    it('R20 STORE-3 over PostgreSQL nothing is lost, and each obeys what the other decides', async () => {
      await upgrade(await postgres.newDatabase());
    });

    it('R20 STORE-1 over one SQLite file nothing is lost, and each obeys what the other decides', async () => {
      await upgrade(undefined);
    });
  },
);
