/**
 * One process that uses a store, for tests of several at once:
 * `node --import tsx store-process.ts <act> <directory> <name> [count]`.
 * Every line on stdout is an acknowledgement: it is written after the promise has resolved.
 */
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import type { Store } from '../../src/model/store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.js';

const [act = '', directory = '', name = '', count = '0'] = process.argv.slice(2);
/** Written at once, so that what is said was true before a kill; a full pipe is tried again. */
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown;
    }
  }
}

async function putAndAppend(store: Store, at: number): Promise<void> {
  const key = `${name}-${at}`;
  await store.put('entries', key, { at, padding: 'x'.repeat((at * 37) % 3000) });
  say(key);
  await store.append([{ id: key, time: at, kind: 'execution', principal: name, outcome: 'success' }]);
  say(`audit ${key}`);
}

/** Adds one to a number that all processes share; a lost update would show in the sum. */
async function increment(store: Store): Promise<void> {
  for (;;) {
    const entry = await store.get('shared', 'counter');
    const next = Number(entry?.value ?? 0) + 1;
    if (await store.put('shared', 'counter', next, { ifRevision: entry?.revision ?? 0 })) return;
  }
}

const acts: Record<string, (store: Store) => Promise<void>> = {
  async write(store) {
    for (let at = 0; at < Number(count); at++) {
      await putAndAppend(store, at);
      await increment(store);
    }
  },
  async hammer(store) {
    for (let at = 0; ; at++) {
      await putAndAppend(store, at);
      if (at % 20 === 0) await new Promise(setImmediate);
    }
  },
  async fill(store) {
    await store.put('entries', 'before', 'kept');
    try {
      for (let at = 0; at < 1000; at++) await store.put('entries', `${at}`, 'x'.repeat(10_000));
    } catch (thrown) {
      say(`refused ${(thrown as { code: string }).code}`);
    }
    say(`read ${String((await store.get('entries', 'before'))?.value)}`);
    await store.clear('entries').catch((thrown: unknown) => say(`clear ${(thrown as { code: string }).code}`));
  },
};

const open = (path: string): Promise<Store> =>
  openSqliteStore({ directory: path, clock: systemClock, log: silentLog, busyTimeoutMs: 20_000 });

/**
 * Opens one store after the other, each at a moment all processes agreed on: loading takes so
 * different times that they would not meet otherwise. Stdin names the first moment.
 */
async function openTogether(): Promise<void> {
  createRequire(import.meta.url)('libsql');
  say('ready');
  const first = Number(await text(process.stdin));
  for (let round = 0; round < Number(count); round++) {
    while (Date.now() < first + round * 100);
    const store = await open(join(directory, String(round)));
    await store.put('entries', name, round);
    say(`${round} ${name}`);
    await store.close();
  }
}

if (act === 'together') {
  await openTogether();
} else {
  const store = await open(directory);
  say('open');
  await acts[act]?.(store);
  await store.close();
  say('closed');
}
