import { describe, expect, it } from 'vitest';
import { Config, RuleConfig, ServerEntry } from './config.js';

describe('config schema', () => {
  it('CFG-2 an empty config is valid and every field gets its documented default', () => {
    expect(Config.parse({})).toMatchObject({
      enabled: true,
      timeoutMs: 10_000,
      cache: { enabled: true, ttlMs: 86_400_000 },
      toolRules: [],
      servers: {},
      maxParallelDiscoveries: 5,
      introspectOutputSchemas: false,
      lazyOutputSchemas: true,
      useCache: false,
      registerInMarketplace: false,
      exportToRtfs: false,
      exportDirectory: 'capabilities/servers/pending',
      rtfsDialect: 'standard',
      retryPolicy: { maxRetries: 3, initialDelayMs: 1000, backoffMultiplier: 2, maxDelayMs: 30_000, jitterFactor: 0.1 },
      rateLimit: 'remote',
      approval: 'trust-first',
      http: { host: '127.0.0.1', port: 7077, allowedHosts: [], allowedOrigins: [] },
      limits: { callTimeoutMs: 30_000, idleTimeoutMs: 300_000, healthIntervalMs: 300_000, searchWaitMs: 2000 },
    });
  });

  it('CFG-2 true and false are short for a cache with the default lifetime', () => {
    expect(Config.parse({ cache: false }).cache).toEqual({ enabled: false, ttlMs: 86_400_000 });
    expect(Config.parse({ cache: true }).cache).toEqual({ enabled: true, ttlMs: 86_400_000 });
    expect(Config.parse({ cache: { ttlMs: 5000 } }).cache).toEqual({ enabled: true, ttlMs: 5000 });
  });

  it('CFG-3 unknown keys and wrong types are refused, not ignored', () => {
    expect(Config.safeParse({ toolrules: [] }).success).toBe(false);
    expect(ServerEntry.safeParse({ comand: 'x' }).success).toBe(false);
    expect(RuleConfig.safeParse({ pattern: [] }).success).toBe(false);
    expect(RuleConfig.safeParse({ pattern: '' }).success).toBe(false);
    expect(Config.safeParse({ http: { port: 65_536 } }).success).toBe(false);
    expect(Config.safeParse({ maxParallelDiscoveries: 0 }).success).toBe(false);
    expect(Config.safeParse({ limits: { callTimeoutMs: -1 } }).success).toBe(false);
  });
});
