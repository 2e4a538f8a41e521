import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture, temporaryDirectory } from '../../../../test/support/fixture.js';
import { openHttpApp, type TestApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { openGateway } from '../../../app/open-gateway.js';
import type { Gateway } from '../../../gateway/index.js';

const SECRET = 'sk-live-0123456789abcdef';
/** One that begins like it. */
const FRESH = `${SECRET}-new`;
const TEXT = `{
  // The team's servers.
  "servers": {
    "old": ${JSON.stringify(fixture('legacy')).replace('{', '{ /* careful */ ')},
    "keyed": { "command": "node", "env": { "API_KEY": "${SECRET}" }, "enabled": false }
  },
  "toolRules": [{ "pattern": "crash", "enabled": false }]
}
`;

interface Opened {
  readonly gateway: Gateway;
  readonly http: TestApp;
  readonly file: string;
  readonly home: string;
  text(): Promise<string>;
  send(path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }>;
}

async function open(text = TEXT, name = 'toolscout.jsonc'): Promise<Opened> {
  const home = await temporaryDirectory();
  const file = join(home, name);
  if (text !== '') await writeFile(file, text);
  const gateway = await openGateway({
    ...(text !== '' && { config: file }),
    stateDir: join(home, 'state'),
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: join(home, 'config') },
    learnAtStart: false,
  });
  onTestFinished(() => gateway.close({ drainMs: 0 }));
  const http = await openHttpApp(gateway);
  return {
    gateway,
    http,
    file,
    home,
    text: () => readFile(file, 'utf8'),
    async send(path, body) {
      const answer = await (body ? http.post(path, body) : http.send(path));
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
  };
}

const idsOf = async (gateway: Gateway): Promise<string[]> => (await gateway.servers.list()).map(({ id }) => id);

describe('changing the config', STARTS_PROCESSES, () => {
  it('STUDIO-8 a change is planned with its diff and exact command, then written in place and taken over', async () => {
    const { gateway, send, text, file } = await open();
    const change = { servers: { extra: { command: 'npx', args: ['-y', 'some-server', '--port=1'] } } };
    const planned = await send('/v1/config/plan', { change });
    expect(planned).toMatchObject({
      status: 200,
      body: {
        file,
        problems: [],
        commands: [{ server: 'extra', type: 'stdio', target: 'npx -y some-server --port=1', secrets: [] }],
      },
    });
    expect(await text()).toBe(TEXT);
    expect(await idsOf(gateway)).not.toContain('extra');
    const diff = planned.body['diff'] as Array<{ kind: string; text: string }>;
    const linesOf = (wanted: string): string[] => diff.filter(({ kind }) => kind === wanted).map((line) => line.text);
    // The entry before the new one gets a comma, and nothing else changes.
    const [last, ...others] = linesOf('removed');
    expect(others).toEqual([]);
    expect(linesOf('added')[0]).toBe(`${last!},`);
    expect(linesOf('added').join('')).toContain('some-server');
    const applied = await send('/v1/config/apply', { change, plan: planned.body['plan'] });
    expect(applied).toMatchObject({ status: 200, body: { file, report: expect.any(Object) as object } });
    expect(await idsOf(gateway)).toContain('extra');
    const written = await text();
    expect(written).toContain("// The team's servers.");
    expect(written).toContain('/* careful */');
    expect(written).toContain(SECRET);
    expect(await gateway.audit.list({ kind: 'config-edit' })).toMatchObject([
      { outcome: 'success', principal: 'local', detail: { servers: ['extra'] } },
    ]);
  });

  it('STUDIO-8 CFG-4 no credential is shown; a placeholder in a change stands for it', async () => {
    const { gateway, send, text } = await open();
    const shown = await send('/v1/config/file');
    expect(JSON.stringify(shown.body)).not.toContain(SECRET);
    const { text: masked, servers } = shown.body as { text: string; servers: Record<string, { env: object }> };
    expect(masked).toContain("// The team's servers.");
    // The raw text, with one letter changed.
    const change = { text: masked.replace("team's", 'TEAM') };
    const planned = await send('/v1/config/plan', { change });
    expect(planned.body).toMatchObject({ problems: [], commands: [] });
    expect(JSON.stringify(planned.body)).not.toContain(SECRET);
    expect((await send('/v1/config/apply', { change, plan: planned.body['plan'] })).status).toBe(200);
    expect(await text()).toBe(TEXT.replace("team's", 'TEAM'));
    // The form of one server: env as it was shown, one argument more.
    const entry = { ...servers['keyed'], args: ['x'] };
    const form = { servers: { keyed: entry } };
    const second = await send('/v1/config/plan', { change: form });
    expect(second.body).toMatchObject({ problems: [], commands: [{ server: 'keyed', target: 'node x' }] });
    expect((await send('/v1/config/apply', { change: form, plan: second.body['plan'] })).status).toBe(200);
    expect(await text()).toContain(SECRET);
    expect(gateway.internal.loaded().config.servers['keyed']).toMatchObject({ args: ['x'] });
    const foreign = await send('/v1/config/plan', { change: { text: 'TOOLSCOUT_SECRET_0123456789ab' } });
    expect(foreign).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  });

  it('STUDIO-8 shows a variable that is not set as it is written, and says what to write for a credential', async () => {
    const { send } = await open('{ "servers": { "a": { "command": "x", "env": { "API_TOKEN": "${NOT_SET_1}" } } } }');
    expect((await send('/v1/config/file')).body['text']).toContain('${NOT_SET_1}');
    const change = { servers: { b: { command: 'x', env: { API_TOKEN: SECRET } } } };
    expect((await send('/v1/config/plan', { change })).body['problems']).toEqual([
      {
        path: 'servers.b.env.API_TOKEN',
        line: 1,
        message: 'looks like a credential in plain text. Write ${API_TOKEN}, then run toolscout secret set API_TOKEN.',
      },
    ]);
  });

  it('STUDIO-8 a credential that is typed in is shown nowhere in the plan, and its place is a path', async () => {
    const { send } = await open();
    for (const args of [
      ['a.mjs', `--api-key=${FRESH}`],
      ['a.mjs', '--api-key', FRESH],
    ]) {
      const change = { servers: { outputs: { command: 'node', args } } };
      const { body } = await send('/v1/config/plan', { change });
      expect(body['problems']).toMatchObject([{ path: `servers.outputs.args[${args.length - 1}]` }]);
      expect(body['after']).toContain('***');
      expect(JSON.stringify(body)).not.toContain(FRESH);
      const allowed = await send('/v1/config/plan', { change: { ...change, allowSecrets: true } });
      expect(allowed.body['problems']).toEqual([]);
      expect(JSON.stringify(allowed.body)).not.toContain(FRESH);
    }
  });

  it('STUDIO-1 CFG-6 says which problem keeps a changed file from being used, until it is mended', async () => {
    const { send, file } = await open();
    await writeFile(file, TEXT.replace('"command": "node"', '"comand": "node"'));
    expect((await send('/v1/config/reload', {})).status).toBe(400);
    const { body: shown } = await send('/v1/config/file');
    expect(shown['rejected']).toContainEqual({
      path: 'servers.keyed.comand',
      message: 'unknown key; did you mean "command"?',
      line: 5,
    });
    const attention = async () => (await send('/v1/overview')).body['attention'] as Array<{ kind: string }>;
    expect(await attention()).toContainEqual(
      expect.objectContaining({
        kind: 'config-rejected',
        title: 'The config file on disk is not used',
        detail: 'servers.keyed.comand: unknown key; did you mean "command"? The previous config stays in force.',
      }),
    );
    await writeFile(file, TEXT.slice(0, -4));
    await send('/v1/config/reload', {});
    expect((await send('/v1/config/file')).body['rejected']).toMatchObject([
      { path: expect.stringMatching(/^line \d/) as string },
    ]);
    await writeFile(file, TEXT);
    await send('/v1/config/reload', {});
    expect((await attention()).map(({ kind }) => kind)).not.toContain('config-rejected');
    expect((await send('/v1/config/file')).body).not.toHaveProperty('rejected');
  });

  it('STUDIO-8 CFG-6 a broken file is compared with the config in force when it is mended', async () => {
    const { send, file, text } = await open();
    const shown = async () => String((await send('/v1/config/file')).body['text']);
    await writeFile(file, TEXT.replace('false }]', 'fals }]'));
    await send('/v1/config/reload', {});
    const mended = { text: (await shown()).replace('fals }]', 'false }]') };
    const planned = await send('/v1/config/plan', { change: mended });
    expect(planned.body).toMatchObject({ problems: [], commands: [] });
    // A server that only the broken file had was never in force.
    const added = TEXT.replace('"servers": {', '"servers": { "new": { "command": "sneaky" },');
    await writeFile(file, added.replace('"pattern"', '"patern"'));
    await send('/v1/config/reload', {});
    const change = { text: (await shown()).replace('"patern"', '"pattern"') };
    const second = await send('/v1/config/plan', { change });
    expect(second.body).toMatchObject({ problems: [], commands: [{ server: 'new', target: 'sneaky' }] });
    expect((await send('/v1/config/apply', { change: mended, plan: planned.body['plan'] })).status).toBe(400);
    expect(await text()).not.toBe(TEXT);
    // A change of one part says where the file is broken.
    await writeFile(file, TEXT.slice(0, -4));
    const rules = await send('/v1/config/plan', { change: { toolRules: [] } });
    expect(rules.status).toBe(400);
    expect(rules.body['detail']).toMatch(/was changed and cannot be read: line \d+, column \d+: not valid JSON/);
  });

  it('STUDIO-8 CFG-6 a file that is gone is named so, and no change makes it anew', async () => {
    const { send, file } = await open();
    await rm(file);
    expect((await send('/v1/config/file')).body).toMatchObject({ path: file, exists: false, isGone: true, text: '' });
    for (const change of [{ servers: { extra: { command: 'x' } } }, { toolRules: [] }]) {
      const planned = await send('/v1/config/plan', { change });
      expect(planned).toMatchObject({
        status: 400,
        body: { detail: `The config file ${file} does not exist any more.` },
      });
    }
    await writeFile(file, TEXT);
    expect((await send('/v1/config/file')).body).not.toHaveProperty('isGone');
  });

  it('STUDIO-8 what is not what was planned is not written: another change, another file, another process', async () => {
    const { send, text, file, gateway } = await open();
    const change = { servers: { keyed: null } };
    const planned = await send('/v1/config/plan', { change });
    const plan = planned.body['plan'];
    const other = { servers: { old: null } };
    expect((await send('/v1/config/apply', { change: other, plan })).status).toBe(400);
    const edited = TEXT.replace('crash', 'crush');
    await writeFile(file, edited);
    expect((await send('/v1/config/apply', { change, plan })).status).toBe(400);
    expect(await text()).toBe(edited);
    const again = await send('/v1/config/plan', { change });
    expect((await send('/v1/config/apply', { change, plan: again.body['plan'] })).status).toBe(200);
    expect(await idsOf(gateway)).toEqual(['old']);
    // The same file, through a second toolscout that planned before.
    const stale = await send('/v1/config/apply', { change, plan: again.body['plan'] });
    expect(stale.status).toBe(400);
  });

  it('STUDIO-8 A33 a credential in a file that is not in force yet, or was rejected, is hidden and stays in the file', async () => {
    const { send, text, file } = await open();
    for (const changed of [
      '{ "servers": {}, "ai": { "apiKey": "canary-key-0123" }, "authHeaders": { "X-Any": "canary-all-0123" } }',
      '{ "servers": { "new": { "command": "x", "env": { "API_TOKEN": "canary-key-0123" }, "bogus": 1 } } }',
      '{ "servers": { "new": { "command": "x", "env": { "API_TOKEN": "canary-key-0123" } }',
    ]) {
      await writeFile(file, changed);
      const { body } = await send('/v1/config/file');
      expect(JSON.stringify(body)).not.toContain('canary');
      const change = { text: body['text'], allowSecrets: true };
      const planned = await send('/v1/config/plan', { change });
      expect(JSON.stringify(planned.body)).not.toContain('canary');
      expect(planned.body['before']).toBe(planned.body['after']);
      expect(await text()).toBe(changed);
    }
  });

  it('STUDIO-8 what would not be valid is named and not written', async () => {
    const { send, text } = await open();
    const problemsOf = async (change: object): Promise<Array<{ path: string; message: string }>> =>
      (await send('/v1/config/plan', { change })).body['problems'] as Array<{ path: string; message: string }>;
    for (const [change, path] of [
      [{ servers: { bad: { args: ['x'] } } }, /servers\.bad/],
      [{ servers: { bad: { command: 7 } } }, /servers\.bad/],
      [{ servers: { 'not an id': { command: 'x' } } }, /not an id/],
      [{ servers: { leaky: { command: 'x', env: { TOKEN: 'ghp_0123456789abcdefghij' } } } }, /leaky/],
      [{ toolRules: [{ pattern: '/(/' }] }, /toolRules/],
      [{ text: '{ "servers": ' }, /line 1/],
      [{ text: '{ "servrs": {} }' }, /servrs/],
    ] as const) {
      const problems = await problemsOf(change);
      expect([change, problems.length > 0]).toEqual([change, true]);
      expect(`${problems[0]!.path} ${problems[0]!.message}`).toMatch(path);
      const { plan } = (await send('/v1/config/plan', { change })).body;
      expect((await send('/v1/config/apply', { change, plan })).status).toBe(400);
    }
    expect(await text()).toBe(TEXT);
    const allowed = {
      servers: { leaky: { command: 'x', env: { TOKEN: 'ghp_0123456789abcdefghij' } } },
      allowSecrets: true,
    };
    expect(await problemsOf(allowed)).toEqual([]);
  });

  it('STUDIO-8 servers are enabled and disabled in place; one that stands elsewhere is named with its place', async () => {
    const { gateway, send, text } = await open();
    expect((await send('/v1/servers/old/disable', {})).status).toBe(200);
    expect((await gateway.servers.list()).find(({ id }) => id === 'old')).toMatchObject({ enabled: false });
    expect(await text()).toContain('/* careful */');
    expect((await send('/v1/servers/old/enable', {})).status).toBe(200);
    expect((await gateway.servers.list()).find(({ id }) => id === 'old')).toMatchObject({ enabled: true });
    await gateway.servers.register({ id: 'found', command: 'x' });
    expect(await send('/v1/servers/found/enable', {})).toMatchObject({ status: 400 });
    expect((await send('/v1/servers/nowhere/enable', {})).status).toBe(404);
  });

  it('STUDIO-8 without a file the first change makes one; YAML keeps its comments; code is left alone', async () => {
    const fresh = await open('');
    const change = { servers: { one: fixture('legacy') } };
    const planned = await fresh.send('/v1/config/plan', { change });
    expect(planned.body).toMatchObject({ before: '', problems: [] });
    const applied = await fresh.send('/v1/config/apply', { change, plan: planned.body['plan'] });
    expect(applied.body['problem']).toBeUndefined();
    expect(await idsOf(fresh.gateway)).toEqual(['one']);

    const yaml = await open('# mine\nservers:\n  one:\n    command: node # here\n', 'toolscout.yaml');
    const rules = { toolRules: [{ pattern: 'x', enabled: false }] };
    const next = await yaml.send('/v1/config/plan', { change: rules });
    await yaml.send('/v1/config/apply', { change: rules, plan: next.body['plan'] });
    expect(await yaml.text()).toMatch(/# mine[\s\S]*# here[\s\S]*toolRules/);

    const code = await open('export default { servers: {} };\n', 'toolscout.mjs');
    expect((await code.send('/v1/config/plan', { change })).status).toBe(400);
    expect(await code.send('/v1/config/file')).toMatchObject({
      status: 200,
      body: { servers: {}, problem: expect.stringContaining('code') as string },
    });
    const library = await openHttpApp(await openToolscout({}));
    expect(await (await library.send('/v1/config/file')).json()).toMatchObject({ exists: false, text: '' });
    expect((await library.post('/v1/config/plan', { change })).status).toBe(400);
    expect((await library.send('/v1/imports')).status).toBe(400);
  });

  it('STUDIO-8 A1 without keys and without --admin nothing is planned or written, and a limited key changes nothing', async () => {
    const { gateway } = await open();
    const plain = await openHttpApp(gateway, { localAdmin: false });
    const change = { servers: { keyed: null } };
    for (const path of ['/v1/config/plan', '/v1/config/apply', '/v1/imports', '/v1/servers/old/disable']) {
      expect([path, (await plain.post(path, { change })).status]).toEqual([path, 403]);
    }
    const ROOT = 'admin-key-00123456789';
    const keys = [{ name: 'some', key: '${ROOT}', scopes: ['admin' as const], servers: ['old'] }];
    const limited = await openHttpApp(await openToolscout({ http: { auth: { keys } } }, { env: { ROOT } }));
    const authorization = { authorization: `Bearer ${ROOT}` };
    for (const path of ['/v1/config/file', '/v1/imports', '/v1/registry/search?q=x']) {
      expect([path, (await limited.send(path, { headers: authorization })).status]).toEqual([path, 403]);
    }
  });

  it('STUDIO-1 rules are previewed: what each turns on, off and tags, and what would be different', async () => {
    const { gateway, send, http } = await open();
    await gateway.servers.discover(['old']);
    const preview = await send('/v1/rules/preview', {
      toolRules: [
        { pattern: 'echo', tags: ['talk'] },
        { pattern: 'add', enabled: false },
        { pattern: 'add', enabled: true },
      ],
    });
    expect(preview.body).toMatchObject({
      rules: [
        { tags: { count: 1, tools: ['old:echo'] }, enables: { count: 0 } },
        { disables: { tools: ['old:add'] } },
        { enables: { count: 0 } },
      ],
      undecided: { enabled: false },
      warnings: [{ path: expect.stringContaining('toolRules[2]') as string }],
    });
    const { changed } = preview.body as { changed: { off: { tools: string[] }; on: { tools: string[] } } };
    // The allow-list turns off everything else; what a rule keeps away now stays away.
    expect(changed.off.tools).toContain('old:echo');
    expect(changed.off.tools).not.toContain('old:crash');
    expect((await http.post('/v1/rules/preview', { toolRules: [{ pattern: '/(/' }] })).status).toBe(400);
  });

  it('STUDIO-8 CLI-1 servers of other clients are found, shown and imported as planned', async () => {
    const { gateway, send, home } = await open('{ "servers": {} }\n');
    const cursor = join(home, '.cursor');
    await mkdir(cursor);
    await writeFile(join(cursor, 'mcp.json'), JSON.stringify({ mcpServers: { mine: fixture('legacy') } }));
    const found = await send('/v1/imports');
    expect(found.body).toMatchObject({ additions: 1, clients: [{ client: 'cursor', servers: [{ server: 'mine' }] }] });
    expect(await idsOf(gateway)).toEqual([]);
    const none = await send('/v1/imports', { sources: ['cursor'], servers: ['other'] });
    expect(none.body).toMatchObject({ additions: 0 });
    const planned = await send('/v1/imports', { sources: ['cursor'] });
    expect((planned.body['diff'] as Array<{ kind: string }>).some(({ kind }) => kind === 'added')).toBe(true);
    expect((await send('/v1/imports', { sources: ['cursor'], plan: '0'.repeat(64) })).status).toBe(400);
    const done = await send('/v1/imports', { sources: ['cursor'], plan: planned.body['plan'] });
    expect(done).toMatchObject({ status: 200, body: { backup: expect.any(String) as string } });
    expect(await idsOf(gateway)).toEqual(['mine']);
    expect((await send('/v1/imports', { sources: ['nobody'] })).status).toBe(400);
  });
});
