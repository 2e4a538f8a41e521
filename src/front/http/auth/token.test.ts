import { generateKeyPairSync } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWK, type JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../../../test/support/fake-clock.js';
import { silentLog } from '../../../kernel/log.js';
import type { HttpAuth } from '../../../model/config.js';
import { createTokenReader, readIssuer, type TokenReader } from './token.js';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'https://tools.example/mcp';
const JWKS = 'https://issuer.example/keys';
const OAUTH = { issuer: ISSUER, audience: AUDIENCE, jwksUri: JWKS, scopePrefix: 'tools:' } as NonNullable<
  HttpAuth['oauth']
>;

interface Signer {
  readonly jwk: JWK;
  sign(claims?: JWTPayload, more?: { readonly expires?: number | null }): Promise<string>;
}

async function signerOf(kid: string, clock: FakeClock, alg = 'ES256'): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg },
    async sign(claims = {}, { expires = 300 } = {}) {
      const now = Math.floor(clock.now() / 1000);
      const token = new SignJWT({ sub: 'ann', iss: ISSUER, aud: AUDIENCE, ...claims }).setProtectedHeader({ alg, kid });
      if (expires !== null) token.setExpirationTime(now + expires);
      return token.sign(privateKey);
    },
  };
}

/** A reader whose issuer answers what `documents` says at that moment; `asked` are the addresses in order. */
function readerOf(
  clock: FakeClock,
  documents: Map<string, unknown>,
  oauth = OAUTH,
): { reader: TokenReader; asked: string[] } {
  const asked: string[] = [];
  const fetchDocument = async (url: string): Promise<unknown> => {
    asked.push(url);
    return documents.get(url);
  };
  return { reader: createTokenReader(oauth, { clock, log: silentLog, fetchDocument }), asked };
}

const keysOf = (...signers: Signer[]): Map<string, unknown> =>
  new Map([[JWKS, { keys: signers.map(({ jwk }) => jwk) }]]);
const REFUSED = {
  code: 'UNAUTHENTICATED',
  message: 'Invalid token: its signature, issuer, audience or expiry time is not accepted.',
};

describe('tokens of an issuer', () => {
  it('S10 a good one names its holder, its scopes without their prefix, and its end', async () => {
    const clock = createFakeClock();
    const signer = await signerOf('a', clock);
    const { reader } = readerOf(clock, keysOf(signer));
    const principal = await reader.read(
      await signer.sign({ scope: 'tools:call tools:nonsense other:admin admin', scp: ['tools:read', 7] as never }),
    );
    expect(principal).toEqual({
      name: 'oauth:ann',
      scopes: new Set(['call', 'read']),
      credential: reader.credential,
      until: (Math.floor(clock.now() / 1000) + 330) * 1000,
    });
    expect((await reader.read(await signer.sign({ sub: undefined, client_id: 'robot' }))).name).toBe('oauth:robot');
  });

  it('S10 one for somebody else, from somebody else, out of time, unsigned or without a name is refused alike', async () => {
    const clock = createFakeClock();
    const [signer, stranger] = [await signerOf('a', clock), await signerOf('a', clock)];
    const { reader } = readerOf(clock, keysOf(signer));
    const now = Math.floor(clock.now() / 1000);
    const secret = new Uint8Array(32);
    const wrong = [
      await signer.sign({ aud: 'https://other.example/' }),
      await signer.sign({ aud: [] }),
      await signer.sign({ iss: 'https://issuer.example/' }),
      await signer.sign({}, { expires: -31 }),
      await signer.sign({}, { expires: null }),
      await signer.sign({ nbf: now + 31 }),
      await signer.sign({ sub: undefined }),
      await signer.sign({ sub: '' }),
      await stranger.sign(),
      `${(await signer.sign()).split('.').slice(0, 2).join('.')}.`,
      new UnsecuredJWT({ sub: 'ann', iss: ISSUER, aud: AUDIENCE, exp: now + 300 }).encode(),
      await new SignJWT({ sub: 'ann', iss: ISSUER, aud: AUDIENCE, exp: now + 300 })
        .setProtectedHeader({ alg: 'HS256', kid: 'a' })
        .sign(secret),
    ];
    for (const token of wrong) await expect(reader.read(token), token).rejects.toMatchObject(REFUSED);
    // Clocks may differ by half a minute.
    expect(await reader.read(await signer.sign({}, { expires: -29 }))).toMatchObject({ name: 'oauth:ann' });
    expect(await reader.read(await signer.sign({ nbf: now + 29 }))).toMatchObject({ name: 'oauth:ann' });
  });

  it.each(['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA'])('S10 a signature by %s is good', async (alg) => {
    const clock = createFakeClock();
    const signer = await signerOf('a', clock, alg);
    expect(await readerOf(clock, keysOf(signer)).reader.read(await signer.sign())).toMatchObject({ name: 'oauth:ann' });
  });

  it('S12 where servers stand in a claim, a token without it sees none', async () => {
    const clock = createFakeClock();
    const signer = await signerOf('a', clock);
    const { reader } = readerOf(clock, keysOf(signer), { ...OAUTH, serversClaim: 'servers' });
    expect((await reader.read(await signer.sign({ servers: ['notes', 1, 'files'] }))).servers).toEqual(
      new Set(['notes', 'files']),
    );
    expect((await reader.read(await signer.sign({ servers: 'notes files' }))).servers).toEqual(
      new Set(['notes', 'files']),
    );
    expect((await reader.read(await signer.sign())).servers).toEqual(new Set());
    const open = readerOf(clock, keysOf(signer)).reader;
    expect(await open.read(await signer.sign({ servers: ['notes'] }))).not.toHaveProperty('servers');
  });

  it('S10 long names that begin alike stay two', async () => {
    const clock = createFakeClock();
    const signer = await signerOf('a', clock);
    const { reader } = readerOf(clock, keysOf(signer));
    const nameOf = async (sub: string): Promise<string> => (await reader.read(await signer.sign({ sub }))).name;
    expect(await nameOf('x'.repeat(200))).toBe(`oauth:${'x'.repeat(200)}`);
    const [one, two] = [await nameOf(`${'x'.repeat(200)}1`), await nameOf(`${'x'.repeat(200)}2`)];
    expect(one).not.toBe(two);
    expect(one).toMatch(/^oauth:x{200}#[0-9a-f]{64}$/);
  });

  it('S10 keys are asked for once in ten minutes, for an unknown key again, and never more often than each half minute', async () => {
    const clock = createFakeClock();
    const [old, fresh] = [await signerOf('old', clock), await signerOf('new', clock)];
    const documents = keysOf(old);
    const { reader, asked } = readerOf(clock, documents);
    await Promise.all([reader.read(await old.sign()), reader.read(await old.sign())]);
    expect(asked).toEqual([JWKS]);
    documents.set(JWKS, { keys: [fresh.jwk] });
    // Known too short to ask again.
    await clock.advance(29_999);
    await expect(reader.read(await fresh.sign())).rejects.toMatchObject(REFUSED);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    expect(await reader.read(await fresh.sign())).toMatchObject({ name: 'oauth:ann' });
    expect(asked).toHaveLength(2);
    // The old key is known to nobody now, and asking again has to wait.
    await expect(reader.read(await old.sign())).rejects.toMatchObject(REFUSED);
    expect(asked).toHaveLength(2);
    await clock.advance(599_999);
    await reader.read(await fresh.sign());
    expect(asked).toHaveLength(2);
    await clock.advance(1);
    await reader.read(await fresh.sign());
    expect(asked).toHaveLength(3);
  });

  it('S10 while the issuer is away the keys it had go on, and without any nobody comes in', async () => {
    const clock = createFakeClock();
    const signer = await signerOf('a', clock);
    const documents = keysOf(signer);
    const { reader, asked } = readerOf(clock, documents);
    await reader.read(await signer.sign());
    for (const away of [undefined, {}, { keys: 'x' }, []]) {
      documents.set(JWKS, away);
      await clock.advance(600_000);
      const before = asked.length;
      expect(await reader.read(await signer.sign())).toMatchObject({ name: 'oauth:ann' });
      expect(await reader.read(await signer.sign())).toMatchObject({ name: 'oauth:ann' });
      expect(asked).toHaveLength(before + 1);
    }
    const late = readerOf(clock, documents);
    await expect(late.reader.read(await signer.sign())).rejects.toMatchObject(REFUSED);
    await expect(late.reader.read(await signer.sign())).rejects.toMatchObject(REFUSED);
    expect(late.asked).toHaveLength(1);
    await clock.advance(30_000);
    for (const [url, document] of keysOf(signer)) documents.set(url, document);
    expect(await late.reader.read(await signer.sign())).toMatchObject({ name: 'oauth:ann' });
  });

  it('S10 keys are found through what the issuer says of itself, if it is this issuer', async () => {
    const clock = createFakeClock();
    const signer = await signerOf('a', clock);
    const { jwksUri: _none, ...oauth } = OAUTH;
    const at = `${ISSUER}/.well-known/oauth-authorization-server`;
    const good = new Map([...keysOf(signer), [at, { issuer: ISSUER, jwks_uri: JWKS }]]);
    expect(await readerOf(clock, good, oauth).reader.read(await signer.sign())).toMatchObject({ name: 'oauth:ann' });
    for (const wrong of [
      { issuer: `${ISSUER}/`, jwks_uri: JWKS },
      { issuer: ISSUER },
      { issuer: ISSUER, jwks_uri: 'x' },
      7,
    ]) {
      const documents = new Map([...keysOf(signer), [at, wrong as unknown]]);
      const { reader, asked } = readerOf(clock, documents, oauth);
      await expect(reader.read(await signer.sign())).rejects.toMatchObject(REFUSED);
      // What is no address is not asked for anything.
      expect(asked.every((url) => url.startsWith(ISSUER))).toBe(true);
    }
  });

  it('S10 every signature is accepted that the issuer alone can make, and one by a shared secret is not', async () => {
    const clock = createFakeClock();
    const pairs = {
      RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
      'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
      'P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }),
      Ed25519: generateKeyPairSync('ed25519'),
    };
    const jwks = Object.entries(pairs).map(([kid, { publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), kid }));
    const { reader } = readerOf(clock, new Map([[JWKS, { keys: jwks }]]));
    const claims = { sub: 'ann', iss: ISSUER, aud: AUDIENCE, exp: Math.floor(clock.now() / 1000) + 60 };
    const token = (kid: keyof typeof pairs, alg: string): Promise<string> =>
      new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(pairs[kid].privateKey);
    for (const [kid, ...algorithms] of [
      ['RSA', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
      ['P-256', 'ES256'],
      ['P-384', 'ES384'],
      ['P-521', 'ES512'],
      ['Ed25519', 'EdDSA', 'Ed25519'],
    ] as const) {
      for (const alg of algorithms) {
        expect(await reader.read(await token(kid, alg)), alg).toMatchObject({ name: 'oauth:ann' });
      }
    }
    // The public key of the issuer as a shared secret: what everybody knows proves nothing.
    const secret = Buffer.from(String(pairs.RSA.publicKey.export({ type: 'spki', format: 'pem' })));
    const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'RSA' }).sign(secret);
    await expect(reader.read(forged)).rejects.toMatchObject(REFUSED);
  });

  it('S10 an issuer with a path is asked in all three places, in order', async () => {
    const asked: string[] = [];
    const issuer = 'https://issuer.example/tenant/';
    await readIssuer(issuer, async (url) => void asked.push(url));
    expect(asked).toEqual([
      'https://issuer.example/.well-known/oauth-authorization-server/tenant',
      'https://issuer.example/.well-known/openid-configuration/tenant',
      'https://issuer.example/tenant/.well-known/openid-configuration',
    ]);
  });

  it('S10 tokens are told from keys by their form, and a reader by its whole configuration', () => {
    const clock = createFakeClock();
    const { reader } = readerOf(clock, new Map());
    expect(['a.b.c', 'a.b.', 'A-_1.b.c'].map((text) => reader.looksLikeToken(text))).toEqual([true, true, true]);
    for (const text of ['a.b', 'a.b.c.d', '.b.c', 'a b.c.d', 'x a.b.c', 'a.b.c ', '']) {
      expect(reader.looksLikeToken(text), text).toBe(false);
    }
    const other = readerOf(clock, new Map(), { ...OAUTH, audience: 'https://other.example/' }).reader;
    expect(other.credential).not.toBe(reader.credential);
    expect(reader.credential).toMatch(/^tokens:[0-9a-f]{64}$/);
  });
});
