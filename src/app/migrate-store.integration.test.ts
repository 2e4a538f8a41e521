import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { systemClock } from '../kernel/clock.js';
import { silentLog } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import { openSqliteStore } from '../store/index.js';
import { migrateStore } from './migrate-store.js';

const open = (directory: string): Promise<Store> => openSqliteStore({ directory, clock: systemClock, log: silentLog });

it('STORE-5 SEC-12 what was not exported yet is exported from the copy, although its records have other places', async () => {
  const [from, to] = [await temporaryDirectory(), await temporaryDirectory()];
  const source = await open(from);
  const record = { kind: 'reload', principal: 'me', outcome: 'success' } as const;
  await source.append(Array.from({ length: 1500 }, (_, at) => ({ ...record, id: `r${at}`, time: at })));
  await source.pruneAudit(100);
  const cursors = { all: 1500, some: 1300, none: 0, forgotten: 50 };
  for (const [name, position] of Object.entries(cursors)) {
    await source.put('audit-export', name, { position, holder: 'x', until: 0, passedOver: 2 });
  }
  await source.put('audit-export', 'damaged', 'x');
  await source.close();
  await migrateStore({ from: `sqlite:${from}`, to: `sqlite:${to}` }, { cwd: '/', env: {} });
  const target = await open(to);
  const nextOf = async (name: string): Promise<string | undefined> => {
    const { value } = (await target.get('audit-export', name))!;
    const { position, ...rest } = value as { position: number };
    expect(rest).toEqual({ holder: 'x', until: 0, passedOver: 2 });
    const [next] = (await target.auditAfter(position, 1)).records;
    return next!.kind === 'reload' ? next!.id : next!.kind;
  };
  expect(await Promise.all(Object.keys(cursors).map(nextOf))).toEqual(['store-migrate', 'r1300', 'r100', 'r100']);
  expect((await target.get('audit-export', 'damaged'))?.value).toBe('x');
  await target.close();
});
