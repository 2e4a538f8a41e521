import { describe, expect, it } from 'vitest';
import { toStoreError, troubleOf } from './error.js';

/** An error as the driver or Node.js throws it. */
const error = (message: string, code?: string): Error => Object.assign(new Error(message), code && { code });
const told = (act: string, thrown: unknown) => toStoreError(act, 'postgres://db/x', thrown, (text) => text);

describe('what an operator is told about a database', () => {
  // Every message as PostgreSQL 15, PgBouncer 1.18, the driver and Node.js 20 word it.
  it.each([
    ['a wrong password', error('password authentication failed for user "me"', '28P01'), 'PGPASSWORD'],
    ['a wrong password at a pooler', error('SASL authentication failed', '08P01'), 'users of a pooler'],
    ['a user that a pooler does not know', error('no such user: me', '08P01'), 'users of a pooler'],
    ['no password', error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), '~/.pgpass'],
    [
      'a server that wants TLS',
      error('pg_hba.conf rejects connection for host "h", user "u", database "d", no encryption', '28000'),
      'sslmode=verify-full',
    ],
    ['a server without TLS', error('The server does not support SSL connections'), 'Turn TLS on'],
    ['a self-signed certificate', error('self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT'), 'sslrootcert'],
    [
      'a certificate of another host',
      error("Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID'),
      'as its certificate does',
    ],
    [
      'a certificate file that is missing',
      error("ENOENT: no such file or directory, open '/ca.pem'", 'ENOENT'),
      'path',
    ],
    ['a missing database', error('database "nothing" does not exist', '3D000'), 'Create the database'],
    ['a missing right', error('permission denied for database x', '42501'), 'grant create on database'],
  ])('STORE-3 %s is refused at once, with what to do', (_, thrown, advice) => {
    expect(troubleOf(thrown)).toBe('refused');
    expect(told('open', thrown)).toMatchObject({ code: 'STORE_ERROR', suggestion: expect.stringContaining(advice) });
  });

  it.each([
    ['no listener', error('connect ECONNREFUSED 127.0.0.1:9', 'ECONNREFUSED'), 'correct host and port'],
    ['a missing socket', error('connect ENOENT /run/postgresql/.s.PGSQL.5432', 'ENOENT'), 'correct host and port'],
    ['an unknown host', error('getaddrinfo ENOTFOUND nohost', 'ENOTFOUND'), 'name of the host'],
    ['too many clients', error('sorry, too many clients already', '53300'), 'max_connections'],
  ])('STORE-4 %s may pass, with what to do', (_, thrown, advice) => {
    expect(troubleOf(thrown)).toBe('unreachable');
    expect(told('open', thrown)).toMatchObject({ suggestion: expect.stringContaining(advice) });
    const all = new AggregateError([thrown]);
    expect(told('open', all).suggestion).toContain(advice);
  });

  it('STORE-4 a process that cannot open its store is not told to wait, one that has it open is', () => {
    const thrown = error('connect ECONNREFUSED 127.0.0.1:9', 'ECONNREFUSED');
    expect(told('open', thrown).suggestion).not.toContain('by itself');
    expect(told('write to', thrown).suggestion).toContain('connects again by itself');
    expect(told('open', error('Query read timeout')).suggestion).toContain('pooler');
    expect(told('read', error('Query read timeout')).suggestion).toContain('locks');
  });

  it('STORE-3 a missing password is named in plain words', () => {
    const { message } = told('open', error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'));
    expect(message).toBe('Cannot open the store postgres://db/x: it asks for a password, and none is set.');
  });
});
