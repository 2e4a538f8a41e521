import { messageOf, ToolscoutError } from '../../kernel/errors.js';

/** What went wrong in PostgreSQL, as far as it changes what is done next. `refused` stays so until a person changes something. */
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
  // A pooler gives these the code of a lost connection, and a file that is missing has the code of a missing socket.
  if (hintOf(thrown)?.isRefusal) return 'refused';
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

/** The same where nothing is open yet: a process that cannot open its store ends. */
const ADVICE_AT_START: Partial<Readonly<Record<Trouble, string>>> = {
  unreachable: 'Start the database, or correct host and port in "store" (PGHOST, PGPORT); then try again.',
  slow: 'The host accepts connections, but PostgreSQL did not answer in time. Check the database and any connection pooler.',
};

/** What a single failure means to the person who runs toolscout. */
interface Hint {
  /** The code and the message, as `CODE message`. */
  readonly when: RegExp;
  /** In plain words, where the driver has none. */
  readonly reason?: string;
  readonly advice: string;
  /** No further attempt changes anything. */
  readonly isRefusal?: true;
}

const HINTS: readonly Hint[] = [
  {
    when: /client password must be/,
    reason: 'it asks for a password, and none is set',
    advice:
      'Set PGPASSWORD, write it to ~/.pgpass, or name a variable in "store": postgres://user:${DB_PASSWORD}@host/database.',
    isRefusal: true,
  },
  {
    when: /^28P01 |SASL authentication failed|password authentication failed|no such user/,
    advice: 'Check the user and the password: "store", PGUSER, PGPASSWORD, ~/.pgpass, and the users of a pooler.',
    isRefusal: true,
  },
  {
    when: /^28000 .*(?:no encryption|SSL off)/,
    advice: 'The server takes encrypted connections only: add ?sslmode=verify-full to "store", or set PGSSLMODE.',
    isRefusal: true,
  },
  {
    when: /does not support SSL/,
    advice: 'Turn TLS on in the server or the pooler, or take sslmode out of "store" and PGSSLMODE.',
    isRefusal: true,
  },
  {
    when: /^ERR_TLS_CERT_ALTNAME_INVALID /,
    advice: 'Name the host in "store" as its certificate does.',
    isRefusal: true,
  },
  {
    when: /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+) /,
    advice: 'Name the certificate of the authority that signed it: sslrootcert=FILE in "store", or PGSSLROOTCERT.',
    isRefusal: true,
  },
  {
    when: /^(?:ENOENT|EACCES|EISDIR) .*, (?:open|read)\b/,
    advice: 'Correct the path in sslrootcert, sslcert or sslkey of "store", or in the PG variables.',
    isRefusal: true,
  },
  { when: /^3D000 /, advice: 'Create the database, or correct its name in "store" or PGDATABASE.' },
  {
    when: /^42501 /,
    advice:
      'As an administrator: create schema toolscout authorization USER; or let the user create it: grant create on database DATABASE to USER.',
  },
  { when: /^(?:ENOTFOUND|EAI_AGAIN) /, advice: 'Check the name of the host in "store" or PGHOST.' },
  {
    when: /^53300 /,
    advice: 'Raise max_connections of the server, lower it in "store", or put a pooler before the database.',
  },
];

function hintOf(thrown: unknown): Hint | undefined {
  const text = `${codeOf(thrown)} ${messageOf(thrown)}`;
  return HINTS.find(({ when }) => when.test(text));
}

function adviceFor(act: string, thrown: unknown): string {
  const trouble = troubleOf(thrown);
  const atStart = act === 'open' ? ADVICE_AT_START[trouble] : undefined;
  return hintOf(thrown)?.advice ?? atStart ?? ADVICE[trouble];
}

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
    suggestion: adviceFor(act, first(thrown)),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    cause: thrown,
  });
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}

/** A host with several addresses fails with all of their errors in one. */
function first(thrown: unknown): unknown {
  return thrown instanceof AggregateError ? ((thrown.errors as unknown[])[0] ?? thrown) : thrown;
}

function reasonOf(thrown: unknown): string {
  return hintOf(thrown)?.reason ?? messageOf(first(thrown)).replace(/\.$/, '');
}
