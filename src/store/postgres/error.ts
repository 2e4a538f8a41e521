import { messageOf, ToolscoutError } from '../../kernel/errors.js';

/** What went wrong in PostgreSQL, as far as it changes what is done next. */
export type Trouble = 'unreachable' | 'slow' | 'refused' | 'vanished' | 'readonly' | 'full' | 'conflict' | 'other';

/** Codes of PostgreSQL (five characters) and of the system. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  '57P05': 'unreachable',
  // Idle for too long in a transaction: the connection is closed.
  '25P03': 'unreachable',
  '57014': 'slow',
  '53300': 'unreachable',
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  ECONNABORTED: 'unreachable',
  EPIPE: 'unreachable',
  ETIMEDOUT: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  ENOENT: 'unreachable',
  '28P01': 'refused',
  '28000': 'refused',
  '3D000': 'refused',
  '42501': 'refused',
  '42P01': 'vanished',
  '3F000': 'vanished',
  '25006': 'readonly',
  '53100': 'full',
  '40001': 'conflict',
  '40P01': 'conflict',
};

/** The driver gives these no code. */
const SLOW = /Query read timeout/;
const UNREACHABLE =
  /Connection terminated|timeout exceeded when trying to connect|not queryable|server conn crashed|server_login_retry|pooler error/i;

/** The kind of trouble behind anything thrown. */
export function troubleOf(thrown: unknown): Trouble {
  const code = codeOf(thrown);
  if (Object.hasOwn(TROUBLES, code)) return TROUBLES[code]!;
  if (SLOW.test(messageOf(thrown))) return 'slow';
  // Class 08 is the connection. A host with several addresses fails with all of their errors in one.
  if (code.startsWith('08') || UNREACHABLE.test(messageOf(thrown))) return 'unreachable';
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return troubleOf(thrown.errors[0]);
  return 'other';
}

/** Codes of a database that takes no connections at all; others say that one connection was cut. */
const AWAY: ReadonlySet<string> = new Set([
  '57P03',
  '53300',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** Whether nothing answers at the address, so that another attempt at once is in vain. */
export function isAway(thrown: unknown): boolean {
  const code = codeOf(thrown);
  if (AWAY.has(code)) return true;
  return thrown instanceof AggregateError && thrown.errors.some((error) => isAway(error));
}

const ADVICE: Readonly<Record<Trouble, string>> = {
  unreachable: 'Start the database or check the network; toolscout connects again by itself.',
  slow: 'Try again; if it keeps happening look for locks, a slow disk or a statement_timeout of the user.',
  refused: 'Check user, password, database and sslmode of "store" or of the PG variables, and the rights of that user.',
  vanished: 'Restore the database, or start toolscout again to make new tables.',
  readonly: 'Connect to the primary server: this one does not take writes.',
  full: 'The disk of the database is full; free some space. What was stored before is intact.',
  conflict: 'Other processes keep changing the same entry; try again.',
  other: 'See the log of the database.',
};

/** Anything thrown while working on a database, as a `STORE_ERROR` that says what to do. */
export function toStoreError(
  act: string,
  location: string,
  thrown: unknown,
  hide: (text: string) => string,
  retryAfterMs?: number,
): ToolscoutError {
  if (thrown instanceof ToolscoutError) return thrown;
  return new ToolscoutError('STORE_ERROR', `Cannot ${act} the store ${location}: ${hide(reasonOf(thrown))}.`, {
    suggestion: ADVICE[troubleOf(thrown)],
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    cause: thrown,
  });
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}

function reasonOf(thrown: unknown): string {
  const [first] = thrown instanceof AggregateError ? (thrown.errors as unknown[]) : [];
  return messageOf(first ?? thrown).replace(/\.$/, '');
}
