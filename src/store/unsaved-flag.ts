import { closeSync, constants, lstatSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';

/** Marks beside the store that a change of trust could not be written to it, so that the next process notices (A40). */
export interface UnsavedFlag {
  isRaised(): boolean;
  /** Never throws: where not even this can be written there is only the log. */
  raise(): void;
  lower(): void;
}

/** A flag that is an empty file: a full disk usually has room for one, and a locked database does not matter. */
export function createUnsavedFlag(directory: string, log: Log): UnsavedFlag {
  const path = join(directory, 'trust-unsaved');
  const attempt = (act: () => void): void => {
    try {
      act();
    } catch (thrown) {
      log.warn('store.flag-failed', { file: path, error: messageOf(thrown) });
    }
  };
  const isRaised = (): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return {
    isRaised,
    raise: () =>
      attempt(() => {
        if (isRaised()) return;
        closeSync(openSync(path, constants.O_CREAT | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0), 0o600));
      }),
    lower: () => attempt(() => rmSync(path, { force: true })),
  };
}
