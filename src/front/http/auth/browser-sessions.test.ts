import { describe, expect, it } from 'vitest';
import type { Session, SessionVerbs } from '../../../gateway/index.js';
import type { Principal } from '../../../model/principal.js';
import { createBrowserSessions, demandCsrf } from './browser-sessions.js';

const HOLDER: Principal = { name: 'ann', scopes: new Set(['read']), credential: 'key:1' };

/** Sessions of a gateway by their tokens, and who hears of their end. */
function bench(...all: Array<Partial<Session> & { readonly id: string }>) {
  const live = new Map(all.map((each) => [`token-${each.id}`, { by: 'oauth', until: 5000, ...each } as Session]));
  const listeners = new Set<(id: string) => void>();
  const sessions = {
    find: async (token: string) => live.get(token),
    async end(token: string) {
      const session = live.get(token);
      if (live.delete(token)) for (const listener of listeners) listener(session!.id);
    },
    isLive: (id: string) => [...live.values()].some((each) => each.id === id),
    onEnd(listener: (id: string) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as SessionVerbs;
  return { live, listeners, browsers: createBrowserSessions({ sessions, baseUrl: () => 'https://tools.example' }) };
}

describe('the principal of a browser session', () => {
  it('STUDIO-6 is the same for every request, so that what is bound to it is bound once', async () => {
    for (const by of ['oauth', 'code', 'key'] as const) {
      const { browsers, listeners } = bench({ id: 'a', by }, { id: 'b', by });
      const first = await browsers.principalOf('token-a', () => HOLDER);
      // Of a key the holder is the same as long as the config is.
      expect(await browsers.principalOf('token-a', () => (by === 'key' ? HOLDER : { ...HOLDER }))).toBe(first);
      expect(await browsers.principalOf('token-b', () => HOLDER)).not.toBe(first);
      expect(listeners.size).toBe(1);
    }
  });

  it('STUDIO-6 has the rights that its key has now', async () => {
    const { browsers } = bench({ id: 'a', by: 'key' });
    const before = await browsers.principalOf('token-a', () => HOLDER);
    const now = await browsers.principalOf('token-a', () => ({ ...HOLDER, scopes: new Set(['admin']) }));
    expect([before?.scopes, now?.scopes]).toEqual([new Set(['read']), new Set(['admin'])]);
    expect(now?.session).toEqual(before?.session);
  });

  it('STUDIO-6 ends with the session or with the token that let its owner in, whichever is first', async () => {
    const { browsers } = bench({ id: 'a' }, { id: 'b' }, { id: 'c' });
    const untilOf = async (id: string, until?: number): Promise<number | undefined> =>
      (await browsers.principalOf(`token-${id}`, () => ({ ...HOLDER, ...(until !== undefined && { until }) })))?.until;
    expect([await untilOf('a'), await untilOf('b', 4000), await untilOf('c', 6000)]).toEqual([5000, 4000, 5000]);
  });

  it('STUDIO-6 a session ends when what opened it is gone, and does not come back with it', async () => {
    const { browsers, live } = bench({ id: 'a' });
    const principal = (await browsers.principalOf('token-a', () => HOLDER))!;
    expect(browsers.isLive(principal)).toBe(true);
    expect(await browsers.principalOf('token-a', () => undefined)).toBeUndefined();
    expect([live.size, browsers.isLive(principal), browsers.isLive(HOLDER)]).toEqual([0, false, true]);
    expect(await browsers.principalOf('token-a', () => HOLDER)).toBeUndefined();
  });

  it('STUDIO-6 A28 a thousand are remembered, and none whose session has ended', async () => {
    const { browsers, live } = bench(...Array.from({ length: 1001 }, (_, at) => ({ id: `s${at}` })));
    const of = (at: number) => browsers.principalOf(`token-s${at}`, () => HOLDER);
    const first = await of(0);
    const second = await of(1);
    for (let at = 2; at < 1000; at++) await of(at);
    expect(await of(0)).toBe(first);
    await of(1000);
    expect(await of(1)).toBe(second);
    const again = await of(0);
    expect([again === first, again]).toEqual([false, first]);
    // A session of the same name, opened after the end of the one before, is another one.
    const ended = live.get('token-s5')!;
    const before = await of(5);
    await browsers.principalOf('token-s5', () => undefined);
    live.set('token-s5', ended);
    expect(await of(5)).not.toBe(before);
  });
});

describe('the token of a page', () => {
  const request = (method: string, csrf?: string): Request =>
    new Request('https://tools.example/', { method, headers: csrf === undefined ? {} : { 'x-toolscout-csrf': csrf } });

  it('STUDIO-6 S1 only sessions need it, and they need it for every change', async () => {
    const { browsers } = bench({ id: 'a' }, { id: 'b' });
    const principal = (await browsers.principalOf('token-a', () => HOLDER))!;
    const { csrf } = principal.session!;
    expect(csrf).not.toContain('token-a');
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      for (const wrong of [undefined, '', `${csrf}x`, csrf.slice(1), 'token-a']) {
        expect(() => demandCsrf(principal, request(method, wrong)), String(wrong)).toThrow('X-Toolscout-Csrf');
      }
      demandCsrf(principal, request(method, csrf));
      demandCsrf(HOLDER, request(method));
    }
    for (const method of ['GET', 'HEAD']) demandCsrf(principal, request(method));
    const other = (await browsers.principalOf('token-b', () => HOLDER))!;
    expect(() => demandCsrf(other, request('POST', csrf))).toThrow('X-Toolscout-Csrf');
  });
});
