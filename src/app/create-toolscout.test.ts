import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { viewerOf, type Gateway, type Toolscout } from '../gateway/index.js';
import type { ConfigInput } from '../model/config.js';
import { DiscoveryEngine } from './compat/discovery-engine.js';
import { createToolscout } from './create-toolscout.js';

async function open(config: ConfigInput, env: Record<string, string> = {}): Promise<Toolscout> {
  const toolscout = await createToolscout({ config, env, stateDir: 'memory', learnAtStart: false });
  onTestFinished(() => toolscout.close({ drainMs: 0 }));
  return toolscout;
}

/** The names of the verbs of an object, `facet.verb` for those of a facet. */
function namesIn(members: object, facet = ''): string[] {
  return Object.entries(members).flatMap(([name, member]) =>
    typeof member === 'function' ? [`${facet}${name}`] : namesIn(member as object, `${name}.`),
  );
}

const SURFACE = {
  '': ['search', 'details', 'call', 'stream', 'run', 'why', 'as', 'ready', 'reload', 'onEvent', 'close'],
  servers: [
    'list',
    'facts',
    'connect',
    'disconnect',
    'discover',
    'discoverTools',
    'discoverResources',
    'discoverPrompts',
    'discoverRaw',
    'add',
    'register',
    'unregister',
    'introspect',
    'signIn',
    'signOut',
    'signInStatus',
  ],
  tools: ['list', 'offered', 'definition', 'signature', 'declaration', 'cacheStats', 'clearCache', 'forgetUsage'],
  approvals: ['list', 'diff', 'approve', 'reject', 'calls', 'approveCall', 'rejectCall'],
  skills: ['list', 'get', 'check', 'bind', 'viewer'],
  registry: ['get', 'search', 'discover', 'serversFor', 'plan'],
  audit: ['list', 'follow', 'verify', 'export', 'stats'],
  config: ['show', 'storeStatus', 'acceptStore'],
  exports: ['write', 'manifest', 'marketplace', 'register'],
  reports: ['doctor', 'evaluate', 'scan'],
  lock: ['write', 'check'],
} as const;

describe('createToolscout', () => {
  it('returns the public verbs and nothing of what only fronts use, for every viewer', async () => {
    const toolscout = await open({});
    const expected = Object.entries(SURFACE).flatMap(([facet, verbs]) =>
      verbs.map((verb) => (facet === '' ? verb : `${facet}.${verb}`)),
    );
    expect(namesIn(toolscout).toSorted()).toEqual(expected.toSorted());
    const ann = toolscout.as(viewerOf({ name: 'ann', scopes: new Set(['read']) }));
    expect(namesIn(ann).toSorted()).toEqual(expected.toSorted());
    expect(namesIn(ann.as(viewerOf({ name: 'bob', scopes: new Set() }))).toSorted()).toEqual(expected.toSorted());
    expect(SURFACE[''].length).toBeLessThan(12);
  });

  it('has these members by type as well', () => {
    type Facets = Exclude<keyof typeof SURFACE, ''>;
    expectTypeOf<keyof Toolscout>().toEqualTypeOf<(typeof SURFACE)[''][number] | Facets>();
    expectTypeOf<{ [Facet in Facets]: keyof Toolscout[Facet] }>().toEqualTypeOf<{
      [Facet in Facets]: (typeof SURFACE)[Facet][number];
    }>();
    expectTypeOf<Exclude<keyof Gateway, keyof Toolscout>>().toEqualTypeOf<
      'hosts' | 'internal' | 'sessions' | 'studio'
    >();
    expectTypeOf<ReturnType<Toolscout['as']>>().toEqualTypeOf<Toolscout>();
    // @ts-expect-error A program has no host that can be asked.
    expectTypeOf<Parameters<Toolscout['call']>[3]>().toHaveProperty('host');
  });

  it('CFG-4 A33 config.show and getConfig hand out no secret, wherever it stands in a config', async () => {
    let count = 0;
    const canary = (): string => `c4n4ry${(count += 1)}c4n4ryc4n4ry`;
    const env = { VAR: canary(), TEAM_KEY: `${canary()}-long-enough`, A_MCP_TOKEN: canary(), MCP_AUTH_TOKEN: canary() };
    const url = (): string => `https://${canary()}:${canary()}@x.example/?key=${canary()}`;
    const inTitle = canary();
    const config: ConfigInput = {
      authHeaders: { 'X-All': canary(), 'X-Var': 'Bearer ${VAR}' },
      ai: { apiKey: canary(), baseUrl: url() },
      registry: { url: url() },
      http: { publicUrl: url(), auth: { keys: [{ name: 'ci', key: '${TEAM_KEY}' }] } },
      servers: {
        a: { url: url(), headers: { 'X-Key': canary(), Authorization: 'Bearer ${VAR}' }, enabled: false },
        b: { url: 'https://b.example/mcp', auth: { clientId: 'me', clientSecret: canary() }, enabled: false },
        c: {
          command: 'x',
          args: ['--token', canary(), `--api-key=${canary()}`, '${VAR}', url()],
          env: { PLAIN: inTitle, FROM: '${VAR}' },
          title: `With ${inTitle}`,
          enabled: false,
        },
      },
    };
    const toolscout = await open(config, env);
    const shown = await toolscout.config.show();
    expect(JSON.stringify(shown)).not.toContain('c4n4ry');
    expect(shown).toMatchObject({
      source: 'library',
      authHeaders: ['X-All', 'X-Var'],
      ai: { apiKeySet: true },
      servers: [
        { id: 'a', secrets: ['X-Key', 'Authorization'] },
        { id: 'b', auth: ['clientId', 'clientSecret'] },
        { id: 'c', title: 'With ***' },
      ],
    });
    const engine = new DiscoveryEngine(toolscout);
    expect(JSON.stringify(engine.getConfig())).not.toContain('c4n4ry');
    expect(JSON.stringify(new DiscoveryEngine(config).getConfig())).not.toContain('c4n4ry');
    expect(engine.getConfig().servers['c']).toMatchObject({ command: 'x', env: { FROM: '${VAR}' } });
  });

  it('S12 config.show names only the servers that a viewer sees', async () => {
    const entry = { command: 'x', enabled: false };
    const toolscout = await open({ servers: { own: entry, other: entry } });
    const key = viewerOf({ name: 'key', scopes: new Set(['read']), servers: new Set(['own']) });
    expect((await toolscout.as(key).config.show()).servers.map(({ id }) => id)).toEqual(['own']);
  });
});
