import { describe, expect, it } from 'vitest';
import { resolveConfig } from '../../config/index.js';
import { Config, ServerEntry, type ConfigInput } from '../../model/config.js';
import { showConfig } from './shown-config.js';

const show = (config: ConfigInput, env: Record<string, string> = {}): Record<string, unknown> => ({
  ...showConfig(resolveConfig(config, { source: 'test', env })),
});

/** Fields of a server that are shown under another name, or as a name only. */
const SHOWN_AS: Record<string, string> = {
  command: 'target',
  args: 'target',
  sandbox: 'target',
  url: 'target',
  env: 'secrets',
  headers: 'secrets',
};

describe('what is shown of a config', () => {
  it('CFG-2 CLI-1 every field of the config is in it, at every depth that is an object of its own', () => {
    const config = Config.parse({});
    const shown = show({});
    expect(Object.keys(shown)).toEqual(expect.arrayContaining(Object.keys(Config.shape)));
    for (const key of ['cache', 'limits', 'http', 'registry', 'skills', 'retryPolicy'] as const) {
      expect(shown[key], key).toEqual({ ...config[key] });
    }
    const { apiKey: _none, ...ai } = config.ai;
    expect(shown['ai']).toEqual({ ...ai, apiKeySet: false });
  });

  it('SEC-12 A33 of an export neither its secret nor what its address holds', () => {
    const siem = { type: 'webhook', url: 'https://ada:canary-1@siem.example/?token=canary-2', secret: '${S}' } as const;
    const log = { type: 'syslog', url: 'tcp://log.example:601' } as const;
    const shown = show({ audit: { export: { siem, log } } }, { S: 'canary-3-0123456789' });
    expect(JSON.stringify(shown)).not.toContain('canary');
    expect(shown['audit']).toMatchObject({ export: { siem: { type: 'webhook', secret: '***' }, log } });
  });

  it('A33 CFG-4 no credential in the command of a sandbox, also where no server runs in it', () => {
    const command = ['env', 'API_TOKEN=canary-1-0123', '--token', 'canary-2-0123', '${KEY:-canary-3-0123}', 'box'];
    for (const own of [false, { command }] as const) {
      const shown = show({ sandbox: { command }, servers: own ? { a: { command: 'x', sandbox: own } } : {} });
      expect(JSON.stringify(shown)).not.toContain('canary');
      expect(JSON.stringify(shown)).toContain('box');
    }
    const only = { servers: { a: { command: 'x', sandbox: { command } } } };
    expect(resolveConfig(only, { source: 'test', env: {} }).secrets.join()).toMatch(/canary-1.*canary-2/);
  });

  it('CFG-2 CLI-1 every setting of a server is in it, with the value that holds', () => {
    const { servers } = show({
      rateLimit: { requestsPerSecond: 7 },
      limits: { callTimeoutMs: 4000 },
      servers: {
        a: {
          command: 'x',
          cwd: '${HOME:-/canary}/x',
          sandbox: { command: ['box', '--quiet'] },
          title: 'A',
          description: 'Does A.',
          tags: ['t'],
          capabilities: ['c:read'],
          autoApprove: ['go'],
          eager: true,
          toolTimeoutsMs: { slow: 9 },
          connectTimeoutMs: 1,
          idleTimeoutMs: 2,
          retry: { maxRetries: 9 },
          answers: { maxTokens: 900 },
          screenResults: 'mark',
        },
        b: { url: 'https://b.example', timeoutMs: 3, auth: { clientId: 'me' }, enabled: false },
      },
    }) as { servers: Array<Record<string, unknown>> };
    const names = new Set(servers.flatMap((server) => Object.keys(server)));
    for (const key of Object.keys(ServerEntry.shape)) expect(names).toContain(SHOWN_AS[key] ?? key);
    expect(servers[0]).toMatchObject({
      target: 'box --quiet x',
      cwd: '${HOME:-***}/x',
      timeoutMs: 4000,
      toolTimeoutsMs: { slow: 9 },
      connectTimeoutMs: 1,
      idleTimeoutMs: 2,
      rateLimit: { requestsPerSecond: 7, burstSize: 20 },
      retry: { maxRetries: 9, initialDelayMs: 1000 },
    });
    expect(servers[1]).toMatchObject({ enabled: false, timeoutMs: 3, auth: ['clientId'] });
  });

  it('CFG-4 A33 no secret is in it, wherever it stands in a config', () => {
    let count = 0;
    const canary = (): string => `c4n4ry${(count += 1)}c4n4ryc4n4ry`;
    const env = { VAR: canary(), TEAM_KEY: `${canary()}-long-enough`, A_MCP_TOKEN: canary(), MCP_AUTH_TOKEN: canary() };
    const url = (): string => `https://${canary()}:${canary()}@x.example/${canary()}?key=${canary()}#${canary()}`;
    const config: ConfigInput = {
      authHeaders: { 'X-All': canary(), 'X-Var': 'Bearer ${VAR}' },
      introspectionInputs: { 'a:go': { password: canary(), deep: [{ x: canary() }] } },
      ai: { enabled: true, apiKey: canary(), baseUrl: url() },
      registry: { url: url() },
      redaction: [{ match: [`/${canary()}/i`, 'customer.*'], where: ['logs', 'results'] }],
      http: {
        publicUrl: url(),
        auth: {
          keys: [
            { name: 'ci', key: '${TEAM_KEY}' },
            { name: 'cd', hash: '4e'.repeat(32) },
          ],
          oauth: { issuer: url(), jwksUri: url(), audience: 'x' },
        },
      },
      servers: {
        a: { url: url(), headers: { 'X-Key': canary(), Authorization: 'Bearer ${VAR}' } },
        b: { url: `https://b.example/?k=\${VAR:-${canary()}}`, auth: { clientId: canary(), clientSecret: canary() } },
        c: {
          command: 'x',
          args: ['--token', canary(), `--api-key=${canary()}`, '${VAR}', `\${NO:-${canary()}}`, url()],
          env: { PLAIN: canary(), FROM: '${VAR}' },
        },
      },
    };
    const text = JSON.stringify(show(config, env));
    expect(count).toBeGreaterThan(30);
    expect(text).not.toMatch(/c4n4ry|4e4e4e/);
    expect(JSON.parse(text)).toMatchObject({
      authHeaders: ['X-All', 'X-Var'],
      introspectionInputs: ['a:go'],
      ai: { enabled: true, apiKeySet: true, baseUrl: 'https://***@x.example/***?key=***#***' },
      redaction: [{ match: ['/…/', 'customer.*'], action: 'mask', where: ['logs', 'results'] }],
      http: { auth: { keys: [{ name: 'ci' }, { name: 'cd' }] } },
    });
  });
});
