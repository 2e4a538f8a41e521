import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../../kernel/errors.js';
import type { ConfigInput, ServerEntry } from '../../model/config.js';
import type { Server } from '../../model/server.js';
import { defineConfig, resolveConfig, validateConfig, type LoadedConfig } from '../index.js';

const resolve = (raw: unknown, env: Record<string, string> = {}): LoadedConfig =>
  resolveConfig(raw, { source: 'library', env });
const one = (entry: unknown, env: Record<string, string> = {}, rest: ConfigInput = {}): Server =>
  resolve({ ...rest, servers: { github: entry } }, env).servers[0]!;

describe('resolveConfig', () => {
  it('CFG-3 throws one error with all problems, one a line', () => {
    const raw = { timoutMs: 1, servers: { a: {} } };
    const attempt = (): LoadedConfig => resolve(raw);
    expect(attempt).toThrow(ToolscoutError);
    expect(attempt).toThrow(
      'The config (library) has 2 problems:\n' +
        'timoutMs: unknown key; did you mean "timeoutMs"?\n' +
        'servers.a: needs "command" (a local process) or "url" (a remote server)',
    );
    expect(attempt).toThrow(
      expect.objectContaining({
        code: 'CONFIGURATION_ERROR',
        problems: [{ path: 'timoutMs' }, { path: 'servers.a' }].map((p) => expect.objectContaining(p) as object),
      }) as Error,
    );
  });

  it('SEC-12 A33 the secret of an export is a variable; without it, or with a short one, nothing is sent there', () => {
    const hook = { type: 'webhook', url: 'https://siem.example/', secret: '${AUDIT_SECRET}' };
    const raw = { audit: { export: { siem: hook, log: { type: 'syslog', url: 'tls://log.example:6514' } } } };
    const loaded = resolve(raw, { AUDIT_SECRET: '0123456789abcdef' });
    expect(loaded.config.audit.export).toMatchObject({
      siem: { secret: '0123456789abcdef', format: 'jsonl' },
      log: { format: 'cef' },
    });
    expect(loaded.secrets).toContain('0123456789abcdef');
    for (const env of [{}, { AUDIT_SECRET: 'short' }] as Record<string, string>[]) {
      const { config, warnings } = resolve(raw, env);
      expect(Object.keys(config.audit.export)).toEqual(['log']);
      expect(warnings).toEqual([expect.objectContaining({ path: 'audit.export.siem.secret' })]);
    }
    for (const wrong of [
      { ...hook, secret: 'in clear' },
      { ...hook, url: 'ftp://x' },
      { type: 'syslog', url: 'log:1' },
    ]) {
      expect(() => resolve({ audit: { export: { siem: wrong } } })).toThrow('audit.export.siem');
    }
  });

  it('CFG-2 fields inside discovery hold as if they stood at the top', () => {
    const fields = defineConfig({ timeoutMs: 7, cache: false, servers: { a: { command: 'x' } } });
    const { source, ...outside } = resolve(fields);
    expect(source).toBe('library');
    expect(resolve({ discovery: fields })).toMatchObject(outside);
    expect(resolve({ discovery: fields, approval: 'off' }).config).toMatchObject({ timeoutMs: 7, approval: 'off' });
  });

  it('CONN-7 CFG-2 remote servers have a rate limit by default and local ones have none; each can have either', () => {
    const local = { command: 'x' };
    const remote = { url: 'https://a.example/mcp' };
    const full = { requestsPerSecond: 10, burstSize: 20 };
    const of = (entry: ServerEntry, rateLimit?: ConfigInput['rateLimit']): unknown =>
      one(entry, {}, rateLimit === undefined ? {} : { rateLimit }).rateLimit;
    expect([of(local), of(remote)]).toEqual([false, full]);
    expect([of(local, 'remote'), of(remote, 'remote')]).toEqual([false, full]);
    expect([of(local, false), of(remote, false)]).toEqual([false, false]);
    expect([of(local, { burstSize: 3 }), of(remote, {})]).toEqual([{ ...full, burstSize: 3 }, full]);
    const own = { rateLimit: { burstSize: 1 } };
    expect([of({ ...local, ...own }), of({ ...remote, ...own }, false)]).toEqual([
      { ...full, burstSize: 1 },
      { ...full, burstSize: 1 },
    ]);
    expect(of({ ...remote, rateLimit: false }, { requestsPerSecond: 1 })).toBe(false);
    const bad = (rateLimit: unknown): unknown =>
      validateConfig({ rateLimit, servers: { a: { ...local, rateLimit } } }).problems;
    expect(bad(true)).toHaveLength(2);
    expect(bad({ requestsPerSecond: 0 })).toHaveLength(2);
    expect(bad({ requestPerSecond: 1 })).toHaveLength(2);
  });

  it('STORE-3 CFG-4 the address of a database expands, and its password is a secret', () => {
    const env = { DB_PASSWORD: 'canary/pass', DATABASE_URL: 'postgres://me:canary%2Fpass@db/x' };
    const { config, secrets } = resolve({ store: 'postgres://me:${DB_PASSWORD}@db.example/x' }, env);
    expect(config.store).toBe('postgres://me:canary/pass@db.example/x');
    expect(secrets).toContain('canary/pass');
    expect(resolve({ store: '${DATABASE_URL}' }, env)).toMatchObject({ config: { store: env.DATABASE_URL } });
    expect(resolve({ store: '${DATABASE_URL}' }, env).secrets).toContain('canary/pass');
  });

  it('STORE-3 CFG-7 TOOLSCOUT_STORE says where state is kept when the config does not', () => {
    const env = { TOOLSCOUT_STORE: 'postgres://db/x' };
    expect(resolve({}, env).config.store).toBe('postgres://db/x');
    expect(resolve({ store: 'memory' }, env).config.store).toBe('memory');
    expect(resolve({}).config.store).toBe('sqlite');
  });

  it('STORE-3 a store that cannot be expanded stops the start: no other one is used in its place', () => {
    expect(() => resolve({ store: '${NOT_SET}' })).toThrow(/^The config \(library\) has a problem:\nstore: .*NOT_SET/);
    expect(() => resolve({}, { TOOLSCOUT_STORE: 'mysql://canary' })).toThrow(/expected "sqlite", "memory" or postgres/);
    expect(() => resolve({}, { TOOLSCOUT_STORE: 'mysql://canary' })).not.toThrow(/canary/);
  });

  it('CFG-2 a server takes its defaults from the limits, and merges its own over the common ones', () => {
    const common: ConfigInput = {
      limits: { callTimeoutMs: 1, connectTimeoutMs: 2, idleTimeoutMs: 3 },
      rateLimit: { requestsPerSecond: 99 },
      retryPolicy: { maxRetries: 7 },
    };
    expect(one({ command: 'x' }, {}, common)).toMatchObject({
      id: 'github',
      source: 'library',
      enabled: true,
      tags: [],
      timeoutMs: 1,
      connectTimeoutMs: 2,
      idleTimeoutMs: 3,
      rateLimit: { requestsPerSecond: 99, burstSize: 20 },
      retry: { maxRetries: 7, initialDelayMs: 1000 },
    });
    const own = {
      timeoutMs: 4,
      connectTimeoutMs: 5,
      idleTimeoutMs: 6,
      rateLimit: { burstSize: 1 },
      retry: { backoffMultiplier: 3 },
    };
    const full = one({ command: 'x', ...own, toolTimeoutsMs: { t: 9 }, tags: ['a', 'a'], title: 'T' }, {}, common);
    expect(full).toMatchObject({
      timeoutMs: 4,
      connectTimeoutMs: 5,
      idleTimeoutMs: 6,
      rateLimit: { requestsPerSecond: 99, burstSize: 1 },
      retry: { maxRetries: 7, backoffMultiplier: 3 },
      toolTimeoutsMs: { t: 9 },
      tags: ['a'],
      title: 'T',
    });
    expect(full.toolTimeoutsMs.constructor).toBeUndefined();
  });

  it('CFG-2 the type is inferred', () => {
    expect(one({ command: 'x' }).transport.type).toBe('stdio');
    expect(one({ url: 'https://x.example' }).transport.type).toBe('http');
    expect(one({ url: 'https://x.example', type: 'sse' }).transport.type).toBe('sse');
  });

  it('CFG-4 expands command, args, env, cwd, url and headers', () => {
    const env = { V: 'value-1', W: '/w' };
    const local = { command: '${V}', args: ['--x=${env:V}'], env: { A: '${NO:-d}' }, cwd: '${W}/sub' };
    expect(one(local, env).transport).toEqual({
      type: 'stdio',
      command: 'value-1',
      args: ['--x=value-1'],
      env: { A: 'd' },
      cwd: '/w/sub',
    });
    const remote = { url: 'https://${V}.example/', headers: { Authorization: 'Bearer ${V}' } };
    expect(one(remote, env).transport).toEqual({
      type: 'http',
      url: 'https://value-1.example/',
      headers: { Authorization: 'Bearer value-1' },
    });
  });

  it('CFG-4 a missing variable disables that server alone and is never an empty credential', () => {
    const loaded = resolve({
      servers: {
        broken: { url: 'https://x.example', headers: { Authorization: 'Bearer ${X}' } },
        fine: { command: 'x' },
        input: { command: 'x', env: { A: '${input:token}' } },
      },
    });
    const [broken, fine, input] = loaded.servers;
    expect(broken!.problem).toBe('needs the environment variable X, which is not set');
    expect(broken!.transport).toMatchObject({ headers: { Authorization: 'Bearer ${X}' } });
    expect(fine!.problem).toBeUndefined();
    expect(input!.problem).toContain('${input:…}');
    expect(loaded.warnings.map(({ path }) => path)).toEqual(['servers.broken', 'servers.input']);
  });

  it('CFG-4 a missing variable is named once, and several are all named', () => {
    const { problem } = one({ command: '${A}', args: ['${A}', '${B}'] });
    expect(problem).toBe(
      'needs the environment variable A, which is not set; needs the environment variable B, which is not set',
    );
    expect(one({ url: '${A}' }).problem).toBe('needs the environment variable A, which is not set');
  });

  it.each([
    [{ url: 'https://x.example', headers: { A: '${V}' } }, 'a\r\nX-Evil: canary', /header A that holds a line break/],
    [{ url: '${V}' }, 'file:///etc/canary', /url that must begin with http/],
    [{ url: '${V}' }, 'canary', /url that is not a valid URL/],
    [{ command: '${V}' }, 'canary\0', /NUL/],
    [{ command: '${V}' }, ' ', /V, which is blank/],
    [{ command: '${V:-}' }, ' ', /empty command/],
  ])('A34 what comes out of a variable is judged too: %j', (entry, value, expected) => {
    const { problem } = one(entry, { V: value });
    expect(problem).toMatch(expected);
    expect(problem).not.toContain('canary');
  });

  it('CFG-4 nothing shown of a server holds a value', () => {
    const env = { T: 'canary-1', K: 'canary-2' };
    const local = one(
      {
        command: 'npx',
        args: ['-y', 'a b', '--token=canary-3', '--api-key', 'canary-4', '${T}', '${NO:-canary-5}'],
        env: { A: 'canary-6', B: '${K}' },
      },
      env,
    );
    expect(local.shown).toEqual({
      type: 'stdio',
      target: 'npx -y "a b" --token=*** --api-key *** ${T} ${NO:-***}',
      secrets: ['A', 'B'],
    });
    const remote = one({ url: 'https://u:canary-7@${T}.example/mcp?k=${K}', headers: { 'X-Key': 'canary-8' } }, env);
    expect(remote.shown).toEqual({
      type: 'http',
      target: 'https://***@${T}.example/mcp?k=***',
      secrets: ['X-Key'],
    });
  });

  it('CFG-4 CONN-6 a blank variable turns off its server and never becomes a credential', () => {
    const env = { TOK: '   ', GITHUB_MCP_TOKEN: ' ' };
    const server = one({ url: 'https://x.example', headers: { Authorization: 'Bearer ${TOK}' } }, env);
    expect(server.problem).toBe('needs the environment variable TOK, which is blank');
    expect(resolve({ authHeaders: { Authorization: 'Bearer ${TOK}' } }, env).config.authHeaders).toEqual({});
  });

  it('CFG-4 every value that must be hidden is listed', () => {
    const { secrets } = resolve(
      {
        authHeaders: { A: 'Bearer secret-0' },
        ai: { enabled: true, apiKey: 'secret-14' },
        servers: {
          a: {
            command: 'x',
            args: ['${ONE}', '--token', 'secret-2', '${NO:-secret-3}'],
            env: { A: 'secret-4', B: 'p-${ONE}', SHORT: '12345' },
          },
          b: { url: 'https://user-5:secret-6@x.example/?q=secret-7', headers: { X: 'Bearer secret-8' } },
          c: { url: 'https://c.example' },
          d: { url: 'https://d.example' },
        },
      },
      { ONE: 'secret-1', C_MCP_TOKEN: 'secret-9', MCP_AUTH_TOKEN: 'secret-10', UNUSED: 'secret-11' },
    );
    const numbers = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 14].map((n) => `secret-${n}`);
    expect(secrets).toEqual(expect.arrayContaining([...numbers, 'p-secret-1', 'user-5']));
    expect(secrets).not.toContain('12345');
    expect(secrets).not.toContain('secret-11');
  });

  const url = 'https://x.example/mcp';
  it.each([
    [{ url }, { GITHUB_MCP_TOKEN: 'g', MCP_AUTH_TOKEN: 'm' }, { Authorization: 'Bearer g' }],
    [{ url }, { MCP_AUTH_TOKEN: 'm' }, { Authorization: 'Bearer m' }],
    [{ url, headers: { authorization: 'Own' } }, { GITHUB_MCP_TOKEN: 'g' }, { authorization: 'Own' }],
    [{ url, headers: { X: '1' } }, { GITHUB_MCP_TOKEN: 'g' }, { X: '1', Authorization: 'Bearer g' }],
    [{ url }, { GITLAB_MCP_TOKEN: 'l', GITHUB_MCP_TOKEN: '' }, {}],
  ])('CONN-6 %j with %j sends %j', (entry, env, headers) => {
    expect(one(entry, env).transport).toEqual({ type: 'http', url, headers });
  });

  it('CONN-6 a token that no header can carry is a problem and is not sent', () => {
    const server = one({ url }, { GITHUB_MCP_TOKEN: 'canary\r\nX: y' });
    expect(server.problem).toContain('GITHUB_MCP_TOKEN');
    expect(server.problem).not.toContain('canary');
    expect(server.transport).toMatchObject({ headers: {} });
  });

  it('CONN-6 tokens never go to local servers', () => {
    const { transport } = one({ command: 'x' }, { GITHUB_MCP_TOKEN: 'g', MCP_AUTH_TOKEN: 'm' });
    expect(JSON.stringify(transport)).not.toMatch(/"[gm]"|Bearer/);
  });

  it('CONN-6 user and password of a URL become the header they stand for', () => {
    expect(one({ url: 'https://me:p%40ss@x.example/mcp' }, { MCP_AUTH_TOKEN: 'm' }).transport).toEqual({
      type: 'http',
      url: 'https://x.example/mcp',
      headers: { Authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}` },
    });
  });

  it('CFG-6 the hash covers the fields and the variables they use, and nothing else', () => {
    const raw = { timeoutMs: 1, servers: { a: { command: '${V}' }, b: { url } } };
    const { hash } = resolve(raw, { V: '1' });
    expect(resolve({ servers: raw.servers, timeoutMs: 1 }, { V: '1', OTHER: 'x' }).hash).toBe(hash);
    for (const other of [
      resolve(raw, { V: '2' }),
      resolve(raw, {}),
      resolve(raw, { V: '1', MCP_AUTH_TOKEN: 't' }),
      resolve(raw, { V: '1', B_MCP_TOKEN: 't' }),
      resolve(raw, { V: '1', CCOS_MCP_CACHE_TTL: '3' }),
      resolve({ ...raw, timeoutMs: 2 }, { V: '1' }),
    ]) {
      expect(other.hash).not.toBe(hash);
    }
  });

  it('CFG-4 common discovery headers expand, and one that cannot is left out', () => {
    const { config, warnings } = resolve({ authHeaders: { A: 'x ${V}', B: '${NO}' } }, { V: 'v' });
    expect(config.authHeaders).toEqual({ A: 'x v' });
    expect(warnings).toMatchObject([{ path: 'authHeaders.B' }]);
  });

  it('CONN-6 DISC-2 authHeaders go to every remote server of the config, and give way to its own headers', () => {
    const { servers } = resolve({
      authHeaders: { 'X-Team': 'red', Authorization: 'Bearer shared-token' },
      servers: {
        plain: { url: 'https://a.example/mcp' },
        own: { url: 'https://b.example/mcp', headers: { authorization: 'Bearer own-token' } },
      },
    });
    expect(servers.map(({ transport }) => 'headers' in transport && { ...transport.headers })).toEqual([
      { 'X-Team': 'red', Authorization: 'Bearer shared-token' },
      { 'X-Team': 'red', authorization: 'Bearer own-token' },
    ]);
  });

  it('A42 the host of a URL is shown in both spellings when it is international', () => {
    const shown = (url: string): string =>
      resolveConfig({ servers: { x: { url } } }, { source: 'library', env: {} }).servers[0]!.shown.target;
    expect(shown('https://ex\u0430mple.com/mcp')).toBe('https://ex\u0430mple.com/mcp (host xn--exmple-4nf.com)');
    expect(shown('https://xn--exmple-4nf.com/mcp')).toBe('https://xn--exmple-4nf.com/mcp (host ex\u0430mple.com)');
    expect(shown('https://example.com/mcp')).toBe('https://example.com/mcp');
  });

  it('CFG-4 variables such as NODE_OPTIONS are the user’s own business', () => {
    const entry = { command: 'x', env: { LD_PRELOAD: '/x.so', NODE_OPTIONS: '--inspect' } };
    expect(one(entry)).toMatchObject({ transport: { env: entry.env } });
  });

  it('A27 ids of the prototype become servers like any other', () => {
    const loaded = resolve({ servers: { toString: { command: 'x' }, constructor: { command: 'y' } } });
    expect(loaded.servers.map(({ id }) => id)).toEqual(['toString', 'constructor']);
    expect(loaded.config.servers.hasOwnProperty).toBeUndefined();
  });
});
