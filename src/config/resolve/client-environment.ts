import type { Variables } from '../environment.js';
import type { Self } from './own-entry.js';

/** The machine a client's files are looked for on. */
export interface ClientEnvironment {
  /** As `process.platform` says it. */
  readonly platform: string;
  readonly home: string;
  readonly env: Variables;
  /** The folder of the project whose files count. */
  readonly project?: string;
  /** How toolscout itself is started and reached. */
  readonly self?: Self;
}
