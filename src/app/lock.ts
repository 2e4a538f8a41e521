import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LockDeps } from '../gateway/index.js';
import type { LoadedConfig } from '../config/index.js';
import { createCleaner, createLockSource } from '../lock/index.js';
import { LOCK_FILE, type LockGate } from '../model/lock.js';
import { writeWhole } from './write-whole.js';

/** Where a process is, as far as its lock file matters. */
export interface LockPlace {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes secrets out of texts. */
  readonly hide: (text: string) => string;
  /** The path of the config, when it is a file. */
  readonly config?: string;
}

/** The lock file of a process. */
export interface OpenLock {
  readonly gate: LockGate;
  readonly deps: LockDeps;
  /** Reads the lock file again for a config that is about to be in force; who is `locking` is not bound to it. */
  apply(loaded: LoadedConfig, locking?: boolean): Promise<LoadedConfig>;
}

/** The lock file beside the config, or in the current folder when the config is no file (SEC-10). */
export function openLock({ cwd, home, env, hide, config: file }: LockPlace): OpenLock {
  // Not the current folder: the lock must say the same wherever a host starts toolscout.
  const folder = file === undefined ? cwd : dirname(file);
  const path = (): string => join(folder, LOCK_FILE);
  const cleaner = createCleaner({ home, project: folder, temporary: tmpdir() }, hide);
  const source = createLockSource({ path, cleaner });
  const places = { project: folder, npmCache: env['npm_config_cache'] ?? join(home, '.npm') };
  return {
    gate: source.gate,
    deps: { path, cleaner, places, write: writeWhole, load: source.load },
    async apply(loaded, locking = false) {
      const { config } = loaded;
      if (config.approval === 'lock') await source.load();
      return locking && config.approval === 'lock'
        ? { ...loaded, config: { ...config, approval: 'trust-first' } }
        : loaded;
    },
  };
}
