import { describe, expect, it } from 'vitest';
import { resolveConfig, type LoadedConfig } from '../config/index.js';
import { systemClock } from '../kernel/clock.js';
import { sha256 } from '../kernel/hash.js';
import { createLog } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { createRevokedKeys } from './revoked-keys.js';

const configOf = (...names: string[]): LoadedConfig => {
  const keys = names.map((name) => ({ name, hash: sha256(name) }));
  return resolveConfig({ http: { auth: { keys } } }, { source: 'test', env: {} });
};
const namesIn = ({ config }: LoadedConfig): string[] => config.http.auth?.keys.map(({ name }) => name) ?? [];

describe('keys that a replica takes back', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', now: () => 0, write: (line) => void lines.push(line) });
  const open = (): Store => createMemoryStore({ clock: systemClock });

  it('STORE-3 are refused by all others, which say so, and are good again when it brings them back', async () => {
    const store = open();
    const one = createRevokedKeys({ store, clock: systemClock, log });
    const two = createRevokedKeys({ store, clock: systemClock, log });
    expect(namesIn(await one.apply(configOf('ann', 'bob')))).toEqual(['ann', 'bob']);
    expect(namesIn(await two.apply(configOf('ann', 'bob')))).toEqual(['ann', 'bob']);
    expect(namesIn(await one.apply(configOf('ann')))).toEqual(['ann']);
    const held = await two.apply(configOf('ann', 'bob'));
    expect(namesIn(held)).toEqual(['ann']);
    expect(held.warnings).toEqual([
      { path: 'http.auth.keys "bob"', message: expect.stringContaining('make a new key') as string },
    ]);
    // A replica that starts with an old config has no say in it.
    expect(namesIn(await createRevokedKeys({ store, clock: systemClock, log }).apply(configOf('bob')))).toEqual([]);
    expect(namesIn(await one.apply(configOf('ann', 'bob')))).toEqual(['ann', 'bob']);
    expect(namesIn(await two.apply(configOf('ann', 'bob')))).toEqual(['ann', 'bob']);
  });

  it('STORE-3 who follows them hears of changes of keys, and of nothing else', () => {
    const listeners: Array<(space: string) => void> = [];
    const watched: Store = { ...open(), onChange: (listener) => (listeners.push(listener), () => undefined) };
    let told = 0;
    const reload = async (): Promise<number> => (told += 1);
    createRevokedKeys({ store: watched, clock: systemClock, log }).follow(reload, () => undefined);
    for (const space of ['entries', 'revoked-keys', 'sessions']) listeners[0]!(space);
    expect(told).toBe(1);
  });

  it('STORE-3 hold on a replica whose config cannot be read now, which says so', async () => {
    const store = open();
    const listeners: Array<(space: string) => void> = [];
    const watched: Store = { ...store, onChange: (listener) => (listeners.push(listener), () => undefined) };
    const one = createRevokedKeys({ store, clock: systemClock, log });
    const two = createRevokedKeys({ store: watched, clock: systemClock, log });
    await one.apply(configOf('ann', 'bob'));
    let inForce = await two.apply(configOf('ann', 'bob'));
    const read = two.reader(
      () => Promise.reject(new Error('the file is broken')),
      () => inForce,
    );
    const failures: string[] = [];
    two.follow(
      async () => (inForce = await read()),
      (thrown) => failures.push((thrown as Error).message),
    );
    await one.apply(configOf('ann'));
    listeners[0]!('revoked-keys');
    await expect.poll(() => namesIn(inForce)).toEqual(['ann']);
    expect(failures).toEqual(['the file is broken']);
    // Any other reload reads the file.
    await expect(read()).rejects.toThrow('broken');
  });

  it('STORE-4 hold here while the store fails, and everywhere after the next reload', async () => {
    const store = open();
    let isDown = false;
    const failing: Store = {
      ...store,
      put: (...args) => (isDown ? Promise.reject(new Error('the store is away')) : store.put(...args)),
    };
    const one = createRevokedKeys({ store: failing, clock: systemClock, log });
    const two = createRevokedKeys({ store, clock: systemClock, log });
    await one.apply(configOf('ann', 'bob'));
    isDown = true;
    expect(namesIn(await one.apply(configOf('ann')))).toEqual(['ann']);
    expect(lines.join('')).toContain('"keys.unshared"');
    expect(namesIn(await two.apply(configOf('ann', 'bob')))).toEqual(['ann', 'bob']);
    isDown = false;
    await one.apply(configOf('ann'));
    expect(namesIn(await two.apply(configOf('ann', 'bob')))).toEqual(['ann']);
  });

  it('STORE-3 a config without authentication has none', async () => {
    const loaded = resolveConfig({}, { source: 'test', env: {} });
    expect(await createRevokedKeys({ store: open(), clock: systemClock, log }).apply(loaded)).toBe(loaded);
  });
});
