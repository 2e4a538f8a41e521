import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { oneLine, printable } from '../../kernel/text.js';

/** What went wrong in SQLite, as far as it changes what is done next. */
export type Trouble = 'busy' | 'damaged' | 'full' | 'readonly' | 'other';

/** Primary result codes of SQLite; extended codes carry them in their low byte. */
const TROUBLES: ReadonlyMap<number, Trouble> = new Map([
  [5, 'busy'],
  [6, 'busy'],
  [8, 'readonly'],
  [11, 'damaged'],
  [13, 'full'],
  [26, 'damaged'],
]);

/** Thrown for a file that opens but does not hold what it must. */
export class DamagedFile extends Error {}

/** The kind of trouble behind anything thrown. */
export function troubleOf(thrown: unknown): Trouble {
  if (thrown instanceof DamagedFile) return 'damaged';
  const raw = thrown instanceof Error && 'rawCode' in thrown ? thrown.rawCode : undefined;
  return (typeof raw === 'number' && TROUBLES.get(raw & 0xff)) || 'other';
}

const ADVICE: Readonly<Record<Trouble, string>> = {
  busy: 'Another process holds the file; try again, or stop the process that hangs.',
  damaged: 'The file is damaged; it is set aside and rebuilt when it is opened next.',
  full: 'The disk is full; free some space. What was stored before is intact.',
  readonly: 'The file cannot be written; check its owner and permissions.',
  other: 'Make the state directory usable for this user, or choose another with --state-dir.',
};

/** The package with SQLite cannot be loaded: it is not installed, has no build for this platform, or does not fit the system. */
export function unloadable(thrown: unknown): ToolscoutError {
  const reason = oneLine(printable(messageOf(thrown)), 300).replace(/\.$/, '');
  return new ToolscoutError('STORE_ERROR', `Cannot load SQLite (package libsql): ${reason}.`, {
    suggestion: 'Install toolscout again without --omit=optional, or use PostgreSQL.',
    cause: thrown,
  });
}

/** Anything thrown while working on the file at `path`, as a `STORE_ERROR` that says what to do. */
export function toStoreError(act: string, path: string, thrown: unknown): ToolscoutError {
  if (thrown instanceof ToolscoutError) return thrown;
  return new ToolscoutError('STORE_ERROR', `Cannot ${act} the store ${path}: ${messageOf(thrown)}.`, {
    suggestion: ADVICE[troubleOf(thrown)],
    cause: thrown,
  });
}
