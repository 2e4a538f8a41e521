import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { createLog } from '../../kernel/log.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Store } from '../../model/store.js';
import { createMemoryStore } from '../../store/memory.js';
import { type AuditPush, EXPORT_SPACE, startAuditPush } from './push.js';

const many = (count: number, from = 0): AuditRecord[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `r${from + i}`,
    time: 1,
    kind: 'execution',
    principal: 'ada',
    outcome: 'success',
  }));
const ids = (records: readonly AuditRecord[]): string[] => records.map(({ id }) => id);
const MINUTE = 60_000;

describe('records that a sink refuses for good', () => {
  let clock: ReturnType<typeof createFakeClock>;
  let store: Store;
  let got: AuditRecord[];
  let sizes: number[];
  let lines: string[];
  /** The status with which a batch is answered. */
  let answer: (records: readonly AuditRecord[]) => number;
  const start = (holder = 'a'): AuditPush =>
    startAuditPush({
      store,
      clock,
      log: createLog({ level: 'debug', now: clock.now, write: (line) => void lines.push(line) }),
      holder,
      sinks: () =>
        new Map([
          [
            'siem',
            {
              async send(records) {
                sizes.push(records.length);
                const status = answer(records);
                if (status !== 200)
                  throw new ToolscoutError('SERVER_CONNECTION_ERROR', `HTTP ${status}`, { refusal: { status } });
                got.push(...records);
              },
            },
          ],
        ]),
      hide: (text) => text,
    });
  const isBad = (bad: readonly string[]) => (records: readonly AuditRecord[]) =>
    records.some(({ id, kind }) => kind === 'execution' && bad.includes(id));
  const notes = (): AuditRecord[] => got.filter(({ kind }) => kind === 'export-refused');
  const said = (): string[] => lines.filter((line) => line.includes('audit.export-passed-over'));
  beforeEach(() => {
    clock = createFakeClock();
    store = createMemoryStore({ clock });
    [got, sizes, lines] = [[], [], []];
    answer = () => 200;
  });

  it('SEC-12 a batch that is too large is halved until it is taken, and nothing is lost or sent twice', async () => {
    await store.append(many(450));
    answer = (records) => (records.length > 60 ? 413 : 200);
    const push = start();
    await clock.advance(10);
    expect(ids(got)).toEqual(ids(many(450)));
    expect(sizes.slice(0, 3)).toEqual([200, 100, 50]);
    expect(lines.filter((line) => line.includes('"error"'))).toEqual([]);
    await push.close();
  });

  it.each([400, 422, 413, 415])(
    'SEC-12 one record that is always answered %i gets a note in its place, and all others arrive in order',
    async (status) => {
      await store.append(many(250));
      const bad = isBad(['r120', 'r249']);
      answer = (records) => (bad(records) ? status : 200);
      const push = start();
      await clock.advance(MINUTE);
      expect(ids(got)).toEqual(ids(many(250)));
      expect(ids(notes())).toEqual(['r120', 'r249']);
      expect(notes()[0]).toMatchObject({ message: expect.stringContaining(String(status)), outcome: 'failure' });
      expect(said()).toHaveLength(2);
      expect(said()[1]).toMatch(/r249/);
      expect((await store.get(EXPORT_SPACE, 'siem'))?.value).toMatchObject({ position: 250, passedOver: 2 });
      await store.append(many(1, 250));
      await clock.advance(2000);
      expect(ids(got).at(-1)).toBe('r250');
      await push.close();
    },
  );

  it('SEC-12 a refused record is tried several times before a note takes its place', async () => {
    await store.append(many(1));
    answer = refuseFirst(2);
    const push = start();
    await clock.advance(MINUTE);
    expect(got).toEqual(many(1));
    await push.close();
  });

  it('SEC-12 a record that is taken after its note is not passed over', async () => {
    await store.append(many(2));
    // The batch of two, and the first record three times.
    answer = refuseFirst(4);
    const push = start();
    await clock.advance(MINUTE);
    expect(got.filter(({ kind }) => kind === 'execution')).toEqual(many(2));
    expect(notes()).toHaveLength(1);
    expect(said()).toEqual([]);
    await push.close();
  });

  it.each([401, 403, 404, 408, 409, 425, 429, 500, 503])(
    'SEC-12 a sink that answers %i is waited for, however long, and loses nothing',
    async (status) => {
      await store.append(many(10));
      answer = () => status;
      const push = start();
      await clock.advance(30 * MINUTE);
      expect(new Set(sizes)).toEqual(new Set([10]));
      answer = () => 200;
      await clock.advance(2 * MINUTE);
      expect(got).toEqual(many(10));
      await push.close();
    },
  );

  it.each([400, 413])(
    'SEC-12 a sink that answers %i to everything is one that fails: no record is passed over',
    async (status) => {
      await store.append(many(40));
      answer = () => status;
      const push = start();
      await clock.advance(60 * MINUTE);
      expect(sizes.length).toBeLessThan(1000);
      answer = () => 200;
      await clock.advance(2 * MINUTE);
      expect(got).toEqual(many(40));
      expect(said()).toEqual([]);
      await push.close();
    },
  );

  it('SEC-12 a record whose note is refused as well is passed over when a later record is taken', async () => {
    await store.append(many(10));
    const bad = isBad(['r3', 'r4']);
    answer = (records) => (bad(records) || records.some(({ kind }) => kind !== 'execution') ? 422 : 200);
    const push = start();
    await clock.advance(2 * MINUTE);
    expect([...new Set(ids(got))]).toEqual(['r0', 'r1', 'r2', 'r5', 'r6', 'r7', 'r8', 'r9']);
    expect(said()).toHaveLength(2);
    expect((await store.get(EXPORT_SPACE, 'siem'))?.value).toMatchObject({ position: 10, passedOver: 2 });
    await push.close();
  });

  it('SEC-12 a death at any moment of this repeats at most what was not noted, in order', async () => {
    for (let deadAfter = 1; deadAfter < 16; deadAfter++) {
      clock = createFakeClock();
      store = createMemoryStore({ clock });
      [got, sizes, lines] = [[], [], []];
      await store.append(many(20));
      const bad = isBad(['r7']);
      let sent = 0;
      // A process that was killed writes nothing more: its delivery never ends.
      answer = (records) => {
        sent += 1;
        return bad(records) ? 400 : 200;
      };
      const real = store;
      const put: Store['put'] = async (space, key, ...rest) =>
        sent >= deadAfter ? new Promise(() => {}) : real.put(space, key, ...rest);
      store = new Proxy(real, { get: (of, name) => (name === 'put' ? put : Reflect.get(of, name)) });
      void start('dead');
      await clock.advance(MINUTE);
      store = real;
      const next = start('b');
      await clock.advance(2 * MINUTE);
      const first = [...new Set(ids(got))];
      expect(first).toEqual(ids(many(20)));
      expect(ids(notes())).toContain('r7');
      expect((await store.get(EXPORT_SPACE, 'siem'))?.value).toMatchObject({ position: 20 });
      await next.close();
    }
  });

  /** Refuses so many deliveries, and takes all after that. */
  function refuseFirst(times: number): typeof answer {
    let left = times;
    return () => (left-- > 0 ? 400 : 200);
  }
});
