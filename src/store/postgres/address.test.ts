import { describe, expect, it } from 'vitest';
import { readPostgresAddress } from './address.js';

const optionsOf = (store: string, env = {}): Record<string, string> =>
  Object.fromEntries(new URL(readPostgresAddress(store, env).url).searchParams);

describe('readPostgresAddress', () => {
  it.each([
    ['postgres://me:s3cr%40t@db.example:5433/state', 'postgres://me@db.example:5433/state'],
    ['postgresql://db.example/state?sslmode=verify-full&password=s3cr%40t', 'postgres://db.example/state'],
    ['postgres://me:s3cr%40t@db/state?schema=team_a', 'postgres://me@db/state?schema=team_a'],
    ['postgres:///state?host=/run/postgresql', 'postgres:///run/postgresql/state'],
  ])('STORE-3 CFG-4 %s is shown as %s', (store, location) => {
    const address = readPostgresAddress(store);
    expect(address.location).toBe(location);
    if (store.includes('s3cr'))
      expect(address.secrets).toEqual(expect.arrayContaining(['s3cr%40t', 's3cr@t'].slice(1)));
  });

  it('STORE-3 takes from the standard variables what the address does not say', () => {
    const env = { PGPASSWORD: 'p/w@1', PGUSER: 'me', PGHOST: 'db.example', PGPORT: '6000', PGDATABASE: 'state' };
    const { url, location, secrets } = readPostgresAddress('postgres://', env);
    expect(location).toBe('postgres://me@db.example:6000/state');
    expect(decodeURIComponent(new URL(url).password)).toBe('p/w@1');
    expect(secrets).toContain('p/w@1');
    const said = readPostgresAddress('postgres://you:own@other:1/mine', env);
    expect(said.location).toBe('postgres://you@other:1/mine');
    expect(new URL(said.url).password).toBe('own');
  });

  it('STORE-3 takes TLS from variables and options, with the meaning they have everywhere', () => {
    const env = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/ca.pem' };
    expect(optionsOf('postgres://db/x', env)).toMatchObject({
      sslmode: 'verify-full',
      sslrootcert: '/ca.pem',
      uselibpqcompat: 'true',
    });
    expect(optionsOf('postgres://db/x?sslmode=disable', env)['sslmode']).toBe('disable');
  });

  it('STORE-3 CFG-3 refuses a mode of TLS that would mean something else, or nothing', () => {
    expect(() => readPostgresAddress('postgres://db/x?sslmode=banana')).toThrow(
      'must be one of disable, prefer, require, verify-ca, verify-full.',
    );
    expect(() => readPostgresAddress('postgres://db/x', { PGSSLMODE: 'allow' })).toThrow('must be one of');
    expect(() => readPostgresAddress('postgres://db/x?sslmode=verify-ca')).toThrow('sslrootcert');
    expect(optionsOf('postgres://db/x?sslmode=verify-ca&sslrootcert=/ca.pem')['sslmode']).toBe('verify-ca');
  });

  it('STORE-3 our own options do not reach the database', () => {
    const store = 'postgres://db/x?schema=other&max_connections=9';
    expect(readPostgresAddress(store)).toMatchObject({ schema: 'other', maxConnections: 9 });
    expect(optionsOf(store)).toEqual({ application_name: 'toolscout' });
  });

  it.each([
    'postgres://me:canary-password@ho st/x',
    'postgres://me:canary-password@db/x?schema=A;drop',
    'postgres://me:canary-password@db/x?max_connections=0',
    'postgres://me:canary-password@db:port/x',
  ])('STORE-3 CFG-4 %s is refused without being repeated', (store) => {
    expect(() => readPostgresAddress(store)).toThrow(expect.objectContaining({ code: 'CONFIGURATION_ERROR' }));
    expect(() => readPostgresAddress(store)).not.toThrow(/canary/);
  });

  it('STORE-3 CFG-3 names the option and its bounds', () => {
    expect(() => readPostgresAddress('postgres://db/x?max_connections=500')).toThrow(
      'The option max_connections of "store" must be a whole number from 2 to 100, not 500.',
    );
    expect(() => readPostgresAddress('postgres://db/x?max_connections=many')).toThrow('from 2 to 100.');
  });
});
