import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { createLog } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { createMemoryStore } from '../../store/memory.js';
import { exportPortion } from './export.js';
import type { AuditSink } from './delivery.js';
import { type AuditPush, EXPORT_SPACE, startAuditPush } from './push.js';

const record = (id: string, time = 1): AuditRecord => ({
  id,
  time,
  kind: 'execution',
  principal: 'ada',
  outcome: 'success',
});
const many = (count: number): AuditRecord[] => Array.from({ length: count }, (_, i) => record(`r${i}`));

describe('pushing the audit log', () => {
  let clock: ReturnType<typeof createFakeClock>;
  let store: Store;
  let got: string[];
  let deliveries: string[];
  let lines: string[];
  const trouble = { failing: false };
  const sink: AuditSink = {
    async send(records, delivery) {
      deliveries.push(delivery);
      if (trouble.failing) throw new Error('the secret is s3cr3t');
      got.push(...records.map(({ id }) => id));
    },
  };
  const start = (holder: string, sinks: ReadonlyMap<string, AuditSink> = new Map([['siem', sink]])): AuditPush =>
    startAuditPush({
      store,
      clock,
      log: createLog({ level: 'debug', now: clock.now, write: (line) => void lines.push(line) }),
      holder,
      sinks: () => sinks,
      hide: (text) => text.replace('s3cr3t', '***'),
    });
  beforeEach(() => {
    clock = createFakeClock();
    store = createMemoryStore({ clock });
    got = [];
    deliveries = [];
    lines = [];
    trouble.failing = false;
  });

  it('SEC-12 every record is sent once and in order, in portions, and the place is kept', async () => {
    await store.append(many(450));
    const push = start('a');
    await clock.advance(10);
    expect(got).toEqual(many(450).map(({ id }) => id));
    expect(deliveries).toEqual(['siem-0-200', 'siem-200-400', 'siem-400-450']);
    await store.append([record('later')]);
    await clock.advance(1000);
    expect(got.at(-1)).toBe('later');
    await push.close();
    const again = start('b');
    await clock.advance(2000);
    expect(got).toHaveLength(451);
    await again.close();
    expect(clock.waiting).toBe(0);
  });

  it('SEC-12 what a sink refuses is sent again, later and later, under the same name, and said once without secrets', async () => {
    await store.append(many(3));
    trouble.failing = true;
    const push = start('a');
    await clock.advance(60_000);
    expect(deliveries.length).toBeGreaterThan(3);
    expect(deliveries.length).toBeLessThan(10);
    expect(new Set(deliveries)).toEqual(new Set(['siem-0-3']));
    const said = lines.filter((line) => line.includes('audit.export-failed'));
    expect(said).toHaveLength(1);
    expect(said[0]).not.toContain('s3cr3t');
    trouble.failing = false;
    await clock.advance(120_000);
    expect(got).toEqual(['r0', 'r1', 'r2']);
    await push.close();
  });

  it('SEC-12 a death between a delivery and its note repeats the delivery; another process waits for the lease first', async () => {
    await store.append(many(2));
    const entry = { position: 0, holder: 'dead', until: clock.now() + 20_000 };
    await store.put(EXPORT_SPACE, 'siem', entry);
    const push = start('b');
    await clock.advance(10_000);
    expect(got).toEqual([]);
    await clock.advance(12_000);
    expect(got).toEqual(['r0', 'r1']);
    await push.close();
  });

  it('SEC-12 two processes share the work: nothing is sent twice', async () => {
    await store.append(many(1000));
    const both = [start('a'), start('b')];
    await clock.advance(5000);
    await store.append([record('later')]);
    await clock.advance(30_000);
    expect(got).toHaveLength(1001);
    expect(new Set(got).size).toBe(1001);
    await Promise.all(both.map((push) => push.close()));
  });

  it('SEC-12 a process that lost its lease in the middle stops, and an unreadable position starts from the beginning', async () => {
    await store.put(EXPORT_SPACE, 'siem', 'nonsense');
    await store.append(many(300));
    const taken: AuditSink = {
      async send(records) {
        got.push(...records.map(({ id }) => id));
        if (got.length === 200)
          await store.put(EXPORT_SPACE, 'siem', { position: 200, holder: 'other', until: clock.now() + 5000 });
      },
    };
    const push = start('a', new Map([['siem', taken]]));
    await clock.advance(100);
    expect(got).toHaveLength(200);
    await clock.advance(7000);
    expect(got).toHaveLength(300);
    await store.put(EXPORT_SPACE, 'siem', { position: 'x', holder: 1, until: 'y' });
    await clock.advance(2000);
    expect(got).toHaveLength(600);
    await push.close();
  });

  it('SEC-12 a portion holds what is asked for and says where the next begins', async () => {
    await store.append([record('a', 1), record('b', 2), record('c', 3)]);
    const first = await exportPortion(store, { since: 2, limit: 2 });
    expect(first).toMatchObject({ lines: [expect.stringContaining('"b"')], position: 2, done: false });
    const next = await exportPortion(store, { format: 'cef', after: first.position, limit: -5 });
    expect(next).toMatchObject({ lines: [expect.stringContaining('CEF:0')], position: 3, done: false });
    expect(await exportPortion(store, { after: 3 })).toEqual({ lines: [], position: 3, done: true });
  });
});
