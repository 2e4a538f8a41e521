import { describe, expect, it } from 'vitest';
import { fixture } from '../../../../test/support/fixture.js';
import { estimateTokens } from '../../../kernel/tokens.js';
import { openHttpApp } from '../../../../test/support/http-app.js';
import { connectHost } from '../../../../test/support/mcp-host.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { STUDIO_PAGE } from '../../../../test/support/studio-page.js';

const KEY = 'a-key-of-more-than-sixteen';
const http = { auth: { keys: [{ name: 'team', key: '${KEY}' }] } };

interface Overview {
  readonly empty: boolean;
  readonly servers: Record<string, number>;
  readonly tools: Record<string, number>;
  readonly tokens: Readonly<Record<'now' | 'everything' | 'menu' | 'instructions' | 'tools' | 'adminTools', number>>;
  readonly hours: ReadonlyArray<{ readonly at: number; readonly calls: number; readonly failed: number }>;
  readonly attention: ReadonlyArray<Record<string, unknown>>;
}

describe('the page', STARTS_PROCESSES, () => {
  it('STUDIO-1 A17 is served at the root without a key, runs its own files alone and stands in no frame', async () => {
    const { send } = await openHttpApp(await openToolscout({ http }, { env: { KEY } }), { studio: STUDIO_PAGE });
    const page = await send('/');
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
      200,
      'text/html; charset=utf-8',
      'content of index.html',
    ]);
    for (const [path, type, cache] of [
      ['/', 'text/html; charset=utf-8', 'no-cache'],
      ['/studio/index-B3x9kQ2a.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
      ['/studio/index-C7aa01Zz.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
      ['/studio/logo.svg', 'image/svg+xml', 'no-cache'],
    ] as const) {
      const { headers } = await send(path);
      expect([path, headers.get('content-type'), headers.get('cache-control')]).toEqual([path, type, cache]);
      const policy = headers.get('content-security-policy')!;
      expect(policy).not.toMatch(/unsafe|\*|http/);
      for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
        expect(policy.split('; ')).toContain(rule);
      }
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
    }
    for (const path of ['/studio/absent.js', '/studio/index.html', '/studio/..%2F..%2Fpackage.json', '/studio/x']) {
      expect([path, (await send(path)).status]).toEqual([path, 404]);
    }
  });

  it('STUDIO-1 S1 a foreign name or page gets not even the page', async () => {
    const { send } = await openHttpApp(await openToolscout({}), { studio: STUDIO_PAGE });
    const foreign: Array<Record<string, string>> = [{ host: 'evil.example' }, { origin: 'https://evil.example' }];
    for (const headers of foreign) {
      for (const path of ['/', '/studio/logo.svg', '/v1/overview']) {
        expect([path, (await send(path, { headers })).status]).toEqual([path, 403]);
      }
    }
  });

  it('STUDIO-1 where it was not built, a sentence says how', async () => {
    const { send } = await openHttpApp(await openToolscout({}), { studio: { read: async () => undefined } });
    const page = await send('/');
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/plain; charset=utf-8']);
    expect(await page.text()).toContain('npm run build');
  });
});

describe('what the page shows', STARTS_PROCESSES, () => {
  it('STUDIO-1 the overview counts servers, tools, tokens and calls, and names what needs attention with its remedy', async () => {
    const gateway = await openToolscout({
      servers: {
        old: fixture('legacy'),
        absent: { command: '/no/such/program' },
        unset: { command: 'node', env: { TOKEN: '${NOT_SET_ANYWHERE}' } },
        off: { ...fixture('modern'), enabled: false },
      },
      toolRules: [{ pattern: 'crash', enabled: false }],
    });
    await gateway.servers.discover();
    await gateway.call('old', 'echo', { message: 'x' });
    await gateway.call('old', 'fail', {});
    const { send } = await openHttpApp(gateway);
    await expect
      .poll(async () => ((await (await send('/v1/overview')).json()) as Overview).hours.at(-1)!.calls)
      .toBe(2);
    const overview = (await (await send('/v1/overview')).json()) as Overview;
    expect(overview).toMatchObject({
      empty: false,
      servers: { total: 4, enabled: 3, ready: 1, failed: 1, off: 2 },
      tools: { disabled: 1 },
    });
    expect(overview.hours).toHaveLength(24);
    expect(overview.hours.at(-1)!.failed).toBe(1);
    expect(overview.tokens.now).toBeGreaterThan(300);
    expect(overview.tokens.everything).toBeGreaterThan(100);
    expect(overview.attention).toContainEqual(
      expect.objectContaining({
        kind: 'server-failed',
        server: 'absent',
        severity: 'severe',
        action: { method: 'POST', path: '/v1/servers/absent/discover' },
      }),
    );
    expect(overview.attention).toContainEqual(expect.objectContaining({ kind: 'server-unusable', server: 'unset' }));
    expect(overview.attention.every(({ remedy }) => typeof remedy === 'string' && remedy !== '')).toBe(true);
    // Looking does not cost: the bill has no menu that nobody was given.
    expect(await gateway.audit.list({ kind: 'menu' })).toEqual([]);
  });

  it('STUDIO-1 tokens of the menu are those of the mode: everything costs more than the meta-tools', async () => {
    const servers = Object.fromEntries(['a', 'b', 'c', 'd'].map((id) => [id, fixture('legacy')]));
    const costs = await Promise.all(
      (['meta', 'passthrough'] as const).map(async (mode) => {
        const gateway = await openToolscout({ servers, mode });
        await gateway.servers.discover();
        const { send } = await openHttpApp(gateway);
        return ((await (await send('/v1/overview')).json()) as Overview).tokens;
      }),
    );
    expect(costs[0]!.everything).toBe(costs[1]!.everything);
    expect(costs[1]!.now).toBeGreaterThan(costs[0]!.now);
  });

  it('STUDIO-1 tokens of the menu are those that a host of this process gets and Audit counts, admin tools included', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const { send } = await openHttpApp(gateway, { localAdmin: true });
    const { tokens } = (await (await send('/v1/overview')).json()) as Overview;
    expect(tokens.adminTools).toBeGreaterThan(0);
    expect(tokens.now).toBe(tokens.menu + tokens.instructions);
    const host = await connectHost(gateway, { era: 'modern', over: 'stdio' }, { admin: true });
    const { tools } = await host.client.listTools();
    expect(tools).toHaveLength(tokens.tools);
    expect(host.client.getInstructions()).toBeTruthy();
    await expect.poll(async () => (await gateway.audit.list({ kind: 'menu' }))[0]?.tokens?.returned).toBe(tokens.menu);
    const { send: ask } = await openHttpApp(gateway, { localAdmin: false });
    const without = (await (await ask('/v1/overview')).json()) as Overview;
    expect(without.tokens.adminTools).toBe(0);
    expect(without.tokens.menu).toBeLessThan(tokens.menu);
  });

  it('STUDIO-1 EXEC-5 a call that is refused costs the text that the host received', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy') },
      toolRules: [
        { pattern: 'crash', enabled: false },
        { pattern: 'echo', confirm: true },
      ],
    });
    await gateway.servers.discover();
    const received = new Map<string, number>();
    for (const mode of ['meta', 'passthrough'] as const) {
      const host = await connectHost(gateway, { era: 'modern', over: 'stdio', capabilities: {}, name: mode }, { mode });
      const args = { message: mode };
      const direct = { name: 'old__echo', arguments: args };
      const meta = { name: 'execute_tool', arguments: { server: 'old', tool: 'echo', arguments: args } };
      const { isError, content } = await host.client.callTool(mode === 'meta' ? meta : direct);
      expect(isError).toBe(true);
      received.set(mode, estimateTokens((content as unknown as [{ text: string }])[0].text));
    }
    const billed = async (): Promise<unknown> => {
      const records = await gateway.audit.list({ kind: 'execution' });
      return Object.fromEntries(records.map(({ host, tokens }) => [host, tokens?.returned]));
    };
    await expect.poll(billed).toEqual(Object.fromEntries(received));
  });

  it('STUDIO-1 an empty toolscout says so, and one with requests says what waits', async () => {
    const { send } = await openHttpApp(await openToolscout({}));
    expect(await (await send('/v1/overview')).json()).toMatchObject({ empty: true, attention: [] });
    const gateway = await openToolscout({ servers: { old: fixture('legacy') }, approval: 'manual' });
    await gateway.servers.discover();
    const waiting = (await (await (await openHttpApp(gateway)).send('/v1/overview')).json()) as Overview;
    expect(waiting.attention).toContainEqual(
      expect.objectContaining({ kind: 'approval', server: 'old', title: expect.stringMatching(/wait/) as string }),
    );
    expect(waiting.tools['pending']).toBeGreaterThan(3);
  });

  it('STUDIO-1 SEC-11 the overview says which calls wait for confirmation, until one is decided', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy'), absent: { command: '/no/such/program' } },
      toolRules: [{ pattern: 'old:{echo,fail}', confirm: true }],
    });
    await gateway.servers.discover();
    const { send, post } = await openHttpApp(gateway);
    const attention = async () => ((await (await send('/v1/overview')).json()) as Overview).attention;
    const broken = expect.objectContaining({ kind: 'server-failed', severity: 'severe' }) as unknown;
    expect(await attention()).toEqual([broken]);
    await post('/v1/call', { server: 'old', tool: 'echo', arguments: { message: 'x' } });
    const [first] = await gateway.approvals.calls({ state: 'waiting' });
    expect(await attention()).toEqual([
      expect.objectContaining({
        kind: 'pending-call',
        severity: 'warning',
        title: 'A call of "old:echo" waits for confirmation',
        server: 'old',
        ref: first!.id,
        // An agent waits for it: it stands before what is graver and does not expire.
        detail: 'local with HTTP API asks with {"message":"x"}.',
        expiresAt: first!.expiresAt,
        remedy: expect.stringContaining(`/v1/pending-calls/${first!.id}/approve`) as string,
      }),
      broken,
    ]);
    await post('/v1/call', { server: 'old', tool: 'fail', arguments: {} });
    expect(await attention()).toEqual([
      expect.objectContaining({
        title: '2 calls wait for confirmation',
        detail: expect.stringMatching(/^"old:(?:echo|fail)", "old:(?:echo|fail)"\.$/) as string,
      }),
      broken,
    ]);
    for (const { id } of await gateway.approvals.calls({ state: 'waiting' })) await gateway.approvals.rejectCall(id);
    expect(await attention()).toEqual([broken]);
  });

  it('STUDIO-1 S12 tools that are held back and previews of searches are of the servers that a caller sees', async () => {
    const gateway = await openToolscout(
      {
        servers: { mine: fixture('legacy'), other: fixture('legacy') },
        toolRules: [{ pattern: 'crash', enabled: false }],
        http: {
          auth: {
            keys: [
              { name: 'all', key: '${KEY}', scopes: ['read'] },
              { name: 'some', key: '${SOME}', scopes: ['read'], servers: ['mine'] },
            ],
          },
        },
      },
      { env: { KEY, SOME: `${KEY}-some` } },
    );
    await gateway.servers.discover();
    const { send } = await openHttpApp(gateway);
    const ask = async (path: string, key: string): Promise<string> =>
      (await send(path, { headers: { authorization: `Bearer ${key}` } })).text();
    const heldBy = async (key: string, query = ''): Promise<unknown> =>
      JSON.parse(await ask(`/v1/held-tools${query}`, key));
    const held = (server: string) => ({
      server,
      tool: 'crash',
      status: 'disabled',
      because: 'rule',
      reason: expect.stringContaining('rule 1 (pattern'),
    });
    expect(await heldBy(KEY)).toEqual({ total: 2, tools: [held('mine'), held('other')] });
    expect(await heldBy(KEY, '?server=other&q=crash')).toEqual({ total: 1, tools: [held('other')] });
    expect(await heldBy(`${KEY}-some`)).toEqual({ total: 1, tools: [held('mine')] });
    expect(await heldBy(`${KEY}-some`, '?server=other')).toEqual({ total: 0, tools: [] });
    expect(await ask('/v1/search/preview?q=echo', KEY)).toContain('other');
    expect(await ask('/v1/search/preview?q=echo', `${KEY}-some`)).not.toContain('other');
    const refused = JSON.parse(await ask('/v1/search/preview?q=echo&server=nowhere', KEY)) as object;
    expect(refused).toMatchObject({ isError: true, tokens: { returned: expect.any(Number) } });
    // A search that only shows what an agent would get is none of an agent.
    const looked = await ask('/v1/search?q=echo&preview=true', KEY);
    expect(await gateway.audit.list({ kind: 'search' })).toEqual([]);
    expect((await gateway.audit.stats()).total.searches).toBe(0);
    expect(await ask('/v1/search?q=echo', KEY)).toBe(looked);
    expect((await gateway.audit.stats()).total.searches).toBe(1);
    expect(await gateway.audit.list({ kind: 'search' })).toMatchObject([{ principal: 'all', route: 'http' }]);
  });

  it('STUDIO-1 one server whole: how it is reached, how long it takes, what went wrong; the command is for administrators', async () => {
    const gateway = await openToolscout(
      {
        servers: { old: { ...fixture('noisy'), env: { TOKEN: 'hidden-value-123' } }, absent: { command: '/no/such' } },
        http: {
          auth: {
            keys: [
              { name: 'root', key: '${ROOT}', scopes: ['admin'] },
              { name: 'reader', key: '${KEY}', scopes: ['read'] },
            ],
          },
        },
      },
      { env: { PATH: process.env['PATH'], KEY, ROOT: 'admin-key-00123456789' } },
    );
    await gateway.servers.discover();
    const { send, post } = await openHttpApp(gateway);
    const root = { authorization: 'Bearer admin-key-00123456789' };
    const reader = { authorization: `Bearer ${KEY}` };
    await gateway.call('old', 'shout', { message: 'x' });
    const show = async (id: string, headers: Record<string, string>): Promise<Record<string, unknown>> =>
      (await (await send(`/v1/servers/${id}`, { headers })).json()) as Record<string, unknown>;
    await expect.poll(async () => (await show('old', root))['latency']).toHaveLength(1);
    const whole = await show('old', root);
    expect(whole).toMatchObject({
      id: 'old',
      health: { state: 'connected', era: expect.any(String) as string },
      transport: { target: expect.stringContaining('noisy') as string, secrets: ['TOKEN'] },
      latency: [{ by: 'call', ms: expect.any(Number) as number }],
      signIn: { state: 'local' },
    });
    expect(whole['stderr']).toMatch(/\S/);
    expect(JSON.stringify(whole)).not.toContain('hidden-value-123');
    expect(await show('old', reader)).toMatchObject({ transport: { type: 'stdio' }, stderr: '' });
    expect(JSON.stringify(await show('old', reader))).not.toContain('noisy.mjs');
    expect(await show('absent', root)).toMatchObject({
      lastError: { code: 'SERVER_CONNECTION_ERROR', remedy: expect.stringMatching(/\S/) as string },
    });
    const act = async (id: string, verb: string): Promise<[number, unknown]> => {
      const answer = await post(`/v1/servers/${id}/${verb}`, undefined, root);
      return [answer.status, await answer.json()];
    };
    expect(await act('old', 'disconnect')).toEqual([200, { server: 'old', state: 'disconnected' }]);
    expect(await act('old', 'connect')).toEqual([200, { server: 'old', state: 'connected' }]);
    expect(await act('old', 'discover')).toMatchObject([200, { server: 'old' }]);
    expect((await act('absent', 'discover'))[0]).toBe(502);
    expect((await act('nowhere', 'connect'))[0]).toBe(404);
    expect((await post('/v1/servers/old/connect', undefined, reader)).status).toBe(403);
  });
});
