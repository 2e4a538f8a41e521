import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { createSecretMask } from '../../kernel/secrets.js';
import { createMemoryStore } from '../../store/index.js';
import { createGrants, OAUTH_SPACE, type Grant } from './grants.js';

const KEY = { server: 'notes', url: 'https://mcp.example/mcp' };
const GRANT: Grant = {
  ...KEY,
  issuer: 'https://login.example',
  resource: 'https://mcp.example/mcp',
  isResourceNamed: true,
  client: { id: 'me', secret: 'canary-client-secret', origin: 'registered' },
  metadata: {
    issuer: 'https://login.example',
    authorization_endpoint: 'https://login.example/authorize',
    token_endpoint: 'https://login.example/token',
    response_types_supported: ['code'],
  },
  accessToken: 'canary-access-token',
  refreshToken: 'canary-refresh-token',
};

function open() {
  const clock = createFakeClock();
  const store = createMemoryStore({ clock });
  const mask = createSecretMask();
  return { clock, store, mask, grants: createGrants({ store, clock, mask }) };
}

describe('grants', () => {
  it('S15 a grant is found under its server and URL only', async () => {
    const { grants } = open();
    await grants.write(GRANT);
    expect(await grants.read(KEY)).toEqual(GRANT);
    expect(await grants.read({ ...KEY, url: 'https://mcp.example/other' })).toBe(undefined);
    expect(await grants.read({ ...KEY, server: 'others' })).toBe(undefined);
    expect(await grants.remove(KEY)).toBe(true);
    expect(await grants.read(KEY)).toBe(undefined);
  });

  it('A44 A33 the tokens of renewals do not pile up in the mask, and those in use are in it', async () => {
    const { grants, mask } = open();
    for (let at = 0; at < 10; at++) await grants.write({ ...GRANT, accessToken: `canary-access-${at}.` });
    expect(mask.hide('canary-access-9. canary-access-8. canary-refresh-token')).toBe('*** *** ***');
    expect(mask.hide('canary-access-1.')).toBe('canary-access-1.');
  });

  it('A33 every secret of a grant becomes known to the mask, when it is kept and when it is read', async () => {
    const { grants, mask, store, clock } = open();
    await grants.write(GRANT);
    const text = 'canary-access-token canary-refresh-token canary-client-secret';
    expect(mask.hide(text)).toBe('*** *** ***');
    const later = createSecretMask();
    await createGrants({ store, clock, mask: later }).read(KEY);
    expect(later.hide(text)).toBe('*** *** ***');
  });

  it('A48 a stored grant that is damaged or belongs to another URL counts as absent', async () => {
    const { grants, store } = open();
    await grants.write(GRANT);
    const [entry] = await store.list(OAUTH_SPACE);
    for (const damaged of [null, 'x', {}, { ...GRANT, issuer: 7 }, { ...GRANT, url: 'https://evil.example/' }]) {
      await store.put(OAUTH_SPACE, entry!.key, damaged as never);
      expect(await grants.read(KEY)).toBe(undefined);
    }
  });

  it('CONN-6 one process at a time renews, the next in line follows, and a stale lock is taken over', async () => {
    const { clock, store, grants, mask } = open();
    const other = createGrants({ store, clock, mask });
    const order: string[] = [];
    let finish = (): void => undefined;
    const first = grants.exclusively(KEY, async () => {
      order.push('first');
      await new Promise<void>((resolve) => (finish = resolve));
      order.push('first done');
    });
    await clock.advance(0);
    const second = other.exclusively(KEY, async () => void order.push('second'));
    await clock.advance(1000);
    expect(order).toEqual(['first']);
    finish();
    await first;
    await clock.advance(1000);
    await second;
    expect(order).toEqual(['first', 'first done', 'second']);

    void grants.exclusively(KEY, () => new Promise(() => undefined));
    await clock.advance(0);
    const third = other.exclusively(KEY, async () => void order.push('third'));
    await clock.advance(29_000);
    expect(order.at(-1)).toBe('second');
    await clock.advance(2000);
    await third;
    expect(order.at(-1)).toBe('third');
  });

  it('CONN-6 a failure gives the lock back', async () => {
    const { grants } = open();
    await expect(grants.exclusively(KEY, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await grants.exclusively(KEY, async () => 'free')).toBe('free');
  });
});
