import { describe, expect, it } from 'vitest';
import type { Log } from '../../kernel/log.js';
import type { Host } from '../../model/host.js';
import type { Upstream } from '../../model/upstream.js';
import { createLogLevels } from './log-levels.js';

const host = (logLevel?: Host['logLevel']): Host => ({
  id: 'h',
  era: 'legacy',
  capabilities: {},
  ...(logLevel !== undefined && { logLevel }),
  request: async () => ({}),
  notify: () => undefined,
});

function upstream(parts: Partial<Upstream> = {}): { upstream: Upstream; told: unknown[] } {
  const told: unknown[] = [];
  const made: Upstream = {
    server: 'one',
    era: 'legacy',
    protocolVersion: '2025-06-18',
    info: { name: 'one', version: '1' },
    capabilities: { logging: {} },
    closed: false,
    request: async (...given) => (told.push(given), {}),
    tell: () => undefined,
    ping: async () => undefined,
    onNotification: () => () => undefined,
    onClose: () => () => undefined,
    close: async () => undefined,
    ...parts,
  };
  return { upstream: made, told };
}

function setUp() {
  const logged: string[] = [];
  const note = (event: string, fields: object = {}): void => void logged.push(`${event} ${JSON.stringify(fields)}`);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  return { logged, tell: createLogLevels({ log, hide: (text) => text.replaceAll('canary', '***') }) };
}

describe('the log level of a host', () => {
  it('META-6 is sent once to each legacy server that logs, and again when it changes', async () => {
    const { tell } = setUp();
    const { upstream: one, told } = upstream();
    await tell(one, host('debug'));
    expect(tell(one, host('debug'))).toBeUndefined();
    await tell(one, host('error'));
    expect(told).toEqual([
      ['logging/setLevel', { level: 'debug' }],
      ['logging/setLevel', { level: 'error' }],
    ]);
    const silent = [upstream({ era: 'modern' }), upstream({ capabilities: {} })];
    for (const each of silent) expect(tell(each.upstream, host('debug'))).toBeUndefined();
    expect(tell(upstream().upstream, host())).toBeUndefined();
    expect(silent.flatMap((each) => each.told)).toEqual([]);
  });

  it('META-6 a server that refuses it costs nothing but a line in the log, without secrets', async () => {
    const { tell, logged } = setUp();
    const { upstream: one } = upstream({ request: () => Promise.reject(new Error('no canary')) });
    await expect(tell(one, host('debug'))).resolves.toBeUndefined();
    expect(logged).toEqual(['connect.log-level {"server":"one","error":"no ***"}']);
  });
});
