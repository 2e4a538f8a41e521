import type { LockCheck, LockReport } from '../../model/lock.js';

/** How a lock file is written. */
export interface LockWriteOptions {
  /** Also what shows signs of an attack, or was rejected. */
  readonly includeHeld?: boolean;
  /** Who does it, for the audit log. */
  readonly by?: string;
}

/** The lock file of a project: exactly which tools there are (SEC-10). */
export interface LockVerbs {
  /** Asks every enabled server what it has and writes the lock file. Nothing is written when one of them does not answer. */
  write(options?: LockWriteOptions): Promise<LockReport>;
  /** Asks every server what it has now and compares it with the lock file. */
  check(): Promise<LockCheck>;
}
