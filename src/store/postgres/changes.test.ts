import { EventEmitter } from 'node:events';
import type { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { silentLog } from '../../kernel/log.js';
import { createChangeWatch } from './changes.js';

/** The database as the watch sees it; every reading of the versions is held until it is answered. */
function watched(options: { readonly pooled?: boolean } = {}) {
  const clock = createFakeClock();
  const readings: Array<(versions: Record<string, number>) => void> = [];
  const client = Object.assign(new EventEmitter(), {
    processID: 7,
    query: async () => ({ rows: [{ pid: options.pooled ? 8 : 7 }] }),
    end: async () => undefined,
    connection: { stream: { destroy: () => undefined } },
  });
  const watch = createChangeWatch(
    {
      versions: () => new Promise((resolve) => readings.push((versions) => resolve(new Map(Object.entries(versions))))),
      connect: async () => client as unknown as Client,
      channel: 'c',
      writer: 'me',
    },
    { clock, log: silentLog, readName: (index) => index, baseline: new Map() },
  );
  const heard: string[] = [];
  watch.on((space) => heard.push(space));
  return {
    clock,
    watch,
    heard,
    /** Answers the reading that waits with these versions. */
    async answer(versions: Record<string, number>) {
      await clock.advance(0);
      expect(readings).toHaveLength(1);
      readings.shift()!(versions);
      await clock.advance(0);
    },
    readings,
    announce: (writer: string, version: number, space: string) =>
      client.emit('notification', { payload: `${writer} ${version} ${space}` }),
    write: (space: string, version: number) => watch.writing(space, async () => ({ value: true, version })),
  };
}

describe('the watch over changes in a database', () => {
  it('STORE-3 versions that were read before a write of this process do not make it a change of another', async () => {
    const { heard, answer, write } = watched();
    await write('own', 1);
    await answer({});
    await write('own', 2);
    await answer({ own: 1 });
    expect(heard).toEqual([]);
  });

  it('STORE-3 a change that is announced while older versions are on their way is told once', async () => {
    const { heard, answer, announce, clock } = watched();
    await answer({});
    await answer({});
    await clock.advance(5000);
    announce('other', 1, 'theirs');
    announce('me', 1, 'own');
    await answer({});
    await clock.advance(5000);
    await answer({ theirs: 1, own: 1 });
    // What this process wrote is known to it by the answer to the write.
    expect(heard.filter((space) => space === 'theirs')).toEqual(['theirs']);
  });

  it('STORE-3 a write of this process after one of another is told for the other alone, once', async () => {
    const { heard, answer, write } = watched();
    await write('both', 2);
    await answer({ both: 1 });
    await answer({ both: 2 });
    expect(heard).toEqual(['both']);
  });

  it('STORE-3 a change to a space that is being written is told as soon as that is done', async () => {
    const { heard, answer, watch, clock } = watched();
    let finish = (): void => undefined;
    const writing = watch.writing('both', async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return { value: true, version: 2 };
    });
    await answer({ both: 1 });
    await answer({ both: 1 });
    expect(heard).toEqual([]);
    finish();
    await writing;
    await clock.advance(0);
    await answer({ both: 2 });
    expect(heard).toEqual(['both']);
  });

  it('STORE-3 a database that was put back to an older state is told', async () => {
    const { heard, answer, write, clock } = watched();
    await answer({});
    await answer({});
    await write('own', 1);
    await write('own', 2);
    await clock.advance(5000);
    await answer({ own: 1 });
    expect(heard).toEqual(['own']);
  });

  it('STORE-4 a change that could not be read is told again, in less than a second', async () => {
    const { heard, answer, announce, clock, watch } = watched();
    await answer({});
    await answer({});
    announce('other', 1, 'theirs');
    watch.doubt('theirs');
    await clock.advance(500);
    await answer({ theirs: 1 });
    expect(heard).toEqual(['theirs', 'theirs']);
    await clock.advance(5000);
    await answer({ theirs: 1 });
    expect(heard).toHaveLength(2);
  });

  it('STORE-3 without announcements a change is told in less than a second', async () => {
    const { heard, answer, clock, readings } = watched({ pooled: true });
    await answer({});
    expect(readings).toEqual([]);
    await clock.advance(500);
    await answer({ theirs: 1 });
    expect(heard).toEqual(['theirs']);
  });
});
