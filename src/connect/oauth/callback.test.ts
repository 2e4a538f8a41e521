import { request as httpRequest } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { systemClock } from '../../kernel/clock.js';
import { openBrowserInteraction, readPasted, type BrowserOptions } from './callback.js';
import type { Interaction } from './flow.js';

const PAGE = new URL('https://login.example/authorize?x=1');

async function interaction(options: Partial<BrowserOptions> = {}): Promise<Interaction> {
  const opened = await openBrowserInteraction({
    server: 'notes',
    clock: systemClock,
    timeoutMs: 20_000,
    open: () => undefined,
    ...options,
  });
  onTestFinished(() => opened.close());
  return opened;
}

describe('the redirect that ends a sign-in', () => {
  it('CONN-6 only the answer with the expected state counts, and only once', async () => {
    const mine = await interaction();
    const waiting = mine.authorize(PAGE, 'right');
    expect((await fetch(`${mine.redirectUri}?code=evil&state=wrong`)).status).toBe(400);
    expect((await fetch(`${mine.redirectUri}?code=evil`)).status).toBe(400);
    expect((await fetch(`${mine.redirectUri}?code=good&state=right`)).status).toBe(200);
    expect((await fetch(`${mine.redirectUri}?code=late&state=right`)).status).toBe(400);
    expect((await waiting).params.get('code')).toBe('good');
  });

  it('S17 the page is static: no script, nothing of the request, nothing that loads', async () => {
    const mine = await interaction();
    const waiting = mine.authorize(PAGE, 's');
    const answer = await fetch(`${mine.redirectUri}?state=s&code=<script>x</script>&error=<img>`);
    const text = await answer.text();
    expect(text).not.toMatch(/<script|<img|src=|href=|http:/);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    await waiting;
  });

  it('A7 it listens on this machine only, for one path, one method and its own name', async () => {
    const mine = await interaction();
    const waiting = mine.authorize(PAGE, 's');
    const { port } = new URL(mine.redirectUri);
    expect(new URL(mine.redirectUri).hostname).toBe('127.0.0.1');
    expect((await fetch(`http://127.0.0.1:${port}/?state=s&code=x`)).status).toBe(404);
    expect((await fetch(`${mine.redirectUri}?state=s&code=x`, { method: 'POST' })).status).toBe(404);
    const rebound = await new Promise<number>((resolve) => {
      const options = { host: '127.0.0.1', port, path: '/callback?state=s&code=x', headers: { host: 'evil.example' } };
      httpRequest(options, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      }).end();
    });
    expect(rebound).toBe(404);
    await fetch(`${mine.redirectUri}?state=s&code=x`);
    await waiting;
  });

  it('CONN-6 waits no longer than the time limit', async () => {
    const clock = createFakeClock();
    const mine = await interaction({ clock, timeoutMs: 60_000 });
    const failure = mine.authorize(PAGE, 's').catch((thrown: Error) => thrown);
    await clock.advance(60_000);
    expect(await failure).toMatchObject({
      code: 'AUTHENTICATION_FAILED',
      message: 'The sign-in timed out after 60 s.',
      suggestion: 'Sign in again: toolscout auth login notes',
    });
    expect(clock.waiting).toBe(0);
  });

  it('CONN-6 a sign-in can be cancelled, and fails where no page can be shown', async () => {
    const stop = new AbortController();
    const mine = await interaction({ signal: stop.signal });
    const failure = mine.authorize(PAGE, 's');
    stop.abort();
    await expect(failure).rejects.toMatchObject({ code: 'CANCELLED' });
    const broken = await interaction({ open: () => Promise.reject(new Error('no screen')) });
    await expect(broken.authorize(PAGE, 's')).rejects.toThrow('no screen');
  });

  it('CONN-6 what is pasted ends it as well: the address, its query, or the code alone', async () => {
    const mine = await interaction({ paste: async () => 'http://127.0.0.1:1/callback?code=c&state=s&iss=i#x' });
    const { params, isBareCode } = await mine.authorize(PAGE, 's');
    expect([params.get('code'), params.get('iss'), isBareCode]).toEqual(['c', 'i', undefined]);
    expect(readPasted(' code=c&state=s \n').params.get('state')).toBe('s');
    expect(readPasted('?error=access_denied&state=s').params.get('error')).toBe('access_denied');
    const bare = readPasted('SplxlOBeZQQYbYS6WxSbIA\n');
    expect([bare.params.get('code'), bare.isBareCode]).toEqual(['SplxlOBeZQQYbYS6WxSbIA', true]);
  });

  it('CONN-6 the port that is asked for is used, or refused with its name when it is taken', async () => {
    const first = await interaction();
    const port = Number(new URL(first.redirectUri).port);
    await expect(interaction({ port })).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      suggestion: 'Stop the program that uses the port, or set another auth.redirectPort.',
    });
    const second = await interaction({ preferredPort: port });
    expect(second.redirectUri).not.toBe(first.redirectUri);
    await first.close();
    const third = await interaction({ preferredPort: port });
    expect(third.redirectUri).toBe(first.redirectUri);
  });
});
