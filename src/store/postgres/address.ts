import { ToolscoutError } from '../../kernel/errors.js';

/** What is needed to connect to a database, and how it may be shown. */
export interface PostgresAddress {
  /** For the driver. */
  readonly url: string;
  /** Where the tables are. */
  readonly schema: string;
  /** Connections that the process may have at once. */
  readonly maxConnections: number;
  /** The address without its password. */
  readonly location: string;
  /** Never to be shown. */
  readonly secrets: readonly string[];
}

/** The standard variables that have an option in the address; an option that stands there wins. */
const OPTIONS: Readonly<Record<string, string>> = {
  PGSSLMODE: 'sslmode',
  PGSSLROOTCERT: 'sslrootcert',
  PGSSLCERT: 'sslcert',
  PGSSLKEY: 'sslkey',
  PGAPPNAME: 'application_name',
};

const SSL_MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

const DEFAULT_SCHEMA = 'toolscout';
const DEFAULT_CONNECTIONS = 5;

/**
 * Reads an address together with the standard variables of PostgreSQL (`PGPASSWORD`, `PGSSLMODE`, …).
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR`; the address is not repeated, since it may hold a password.
 */
export function readPostgresAddress(
  store: string,
  env: Readonly<Record<string, string | undefined>> = {},
): PostgresAddress {
  const given = (name: string): string | undefined => (Object.hasOwn(env, name) ? env[name] || undefined : undefined);
  // An address without a host means the socket or PGHOST; URL needs one to read the user before it.
  const isHostless = /^postgres(ql)?:\/\/([^/?#]*@)?([/?#]|$)/i.test(store);
  const text = isHostless ? store.replace(/^([a-z]+:\/\/(?:[^/?#]*@)?)/i, '$1placeholder') : store;
  if (!URL.canParse(text)) throw malformed('expected postgres://user@host:port/database');
  const url = new URL(text);
  const options = url.searchParams;
  const take = (name: string): string | undefined => {
    const value = options.get(name) ?? undefined;
    options.delete(name);
    return value;
  };
  const schema = take('schema') ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) {
    throw malformed('expected a schema of lower-case letters, digits and underscores, 41 at most');
  }
  const most = take('max_connections');
  const maxConnections = most === undefined ? DEFAULT_CONNECTIONS : Number(most);
  if (!Number.isInteger(maxConnections) || maxConnections < 2 || maxConnections > 100) {
    const found = Number.isNaN(maxConnections) ? '' : `, not ${maxConnections}`;
    throw new ToolscoutError(
      'CONFIGURATION_ERROR',
      `The option max_connections of "store" must be a whole number from 2 to 100${found}.`,
    );
  }
  const host = options.get('host') ?? (isHostless ? (given('PGHOST') ?? 'localhost') : undefined);
  if (host !== undefined) options.set('host', host);
  if (isHostless && given('PGPORT') && !options.has('port')) options.set('port', given('PGPORT')!);
  if (url.username === '' && given('PGUSER')) url.username = encodeURIComponent(given('PGUSER')!);
  if (url.password === '' && given('PGPASSWORD')) url.password = encodeURIComponent(given('PGPASSWORD')!);
  if (url.pathname.length < 2 && given('PGDATABASE')) url.pathname = `/${encodeURIComponent(given('PGDATABASE')!)}`;
  for (const [variable, option] of Object.entries(OPTIONS)) {
    const value = given(variable);
    if (value !== undefined && !options.has(option)) options.set(option, value);
  }
  if (!options.has('application_name')) options.set('application_name', 'toolscout');
  checkTls(options);
  // What the modes mean in every other program: only `verify-full` makes sure that it is the right server.
  if (options.has('sslmode') && !options.has('uselibpqcompat')) options.set('uselibpqcompat', 'true');
  const passwords = [url.password, options.get('password') ?? ''].filter((value) => value !== '');
  return {
    url: url.href,
    schema,
    maxConnections,
    location: shown(url, host, schema),
    secrets: [...passwords, ...passwords.map(decode)],
  };
}

/** Refuses what the driver would take for something else. */
function checkTls(options: URLSearchParams): void {
  const mode = options.get('sslmode');
  if (mode === null) return;
  if (!SSL_MODES.includes(mode)) {
    const message = `The option sslmode of "store" (or PGSSLMODE) must be one of ${SSL_MODES.join(', ')}.`;
    const suggestion = 'Correct sslmode in "store", or the variable PGSSLMODE.';
    throw new ToolscoutError('CONFIGURATION_ERROR', message, { suggestion });
  }
  if (mode !== 'verify-ca' || options.has('sslrootcert')) return;
  throw new ToolscoutError(
    'CONFIGURATION_ERROR',
    'The option sslmode=verify-ca of "store" (or PGSSLMODE) needs a CA certificate: sslrootcert.',
    { suggestion: 'Add sslrootcert=FILE to "store", set PGSSLROOTCERT, or use sslmode=verify-full.' },
  );
}

function shown(url: URL, host: string | undefined, schema: string): string {
  const user = url.username === '' ? '' : `${url.username}@`;
  const port = url.searchParams.get('port') ?? url.port;
  const place = `${host ?? url.hostname}${port === '' ? '' : `:${port}`}`;
  return `postgres://${user}${place}${url.pathname}${schema === DEFAULT_SCHEMA ? '' : `?schema=${schema}`}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone percent sign means itself.
    return text;
  }
}

function malformed(expected: string): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `Cannot read the address of the database in "store": ${expected}.`);
}
