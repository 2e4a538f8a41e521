import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding, Gateway, SchemaFindings } from '../../src/gateway/index.js';
import { commandLine } from '../support/command-line.js';
import { fixture, startHttpFixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openOfflineGateway } from '../support/offline-gateway.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

async function examine(
  gateway: Gateway,
): Promise<{ ok: boolean; find(subject: string): Finding[]; schemas: readonly SchemaFindings[] }> {
  const { ok, findings, schemas } = await gateway.reports.doctor();
  return { ok, schemas, find: (subject) => findings.filter((finding) => finding.subject === subject) };
}

describe('doctor', STARTS_PROCESSES, () => {
  it('CLI-3 healthy servers, store and config are all well', async () => {
    const stateDir = await temporaryDirectory();
    const gateway = await openToolscout(
      {
        servers: { old: fixture('legacy'), new: fixture('modern') },
        toolRules: [{ pattern: 'crash', enabled: false }],
      },
      { stateDir },
    );
    const { ok, find } = await examine(gateway);
    expect(ok).toBe(true);
    expect(find('config')).toMatchObject([{ level: 'ok', message: 'library: 2 servers, 1 rule' }]);
    expect(find('store')).toMatchObject([{ level: 'ok', message: expect.stringContaining(stateDir) as string }]);
    expect(find('server old')[0]).toMatchObject({ level: 'ok' });
    expect(find('server old')[0]?.message).toMatch(
      /^2024-11-05 over stdio, answers in [\d.]+ ms, 8 of 9 tools offered$/,
    );
    expect(find('server new')[0]?.message).toMatch(/^2026-07-28 over stdio/);
  });

  it('CLI-3 every kind of trouble is named with what to do next', async () => {
    const gateway = await openToolscout({
      servers: {
        absent: { command: '/no/such/program', args: ['--flag'] },
        crash: { command: process.execPath, args: ['-e', 'console.error("no licence found"); process.exit(3)'] },
        nowhere: { url: 'http://127.0.0.1:9/mcp' },
        keyed: { ...fixture('legacy'), env: { KEY: '${NO_SUCH_VARIABLE}' } },
        off: { ...fixture('legacy'), enabled: false },
        bad: fixture('malformed'),
        noisy: fixture('noisy'),
      },
      toolRules: [
        { pattern: '*', enabled: true },
        { pattern: 'echo', enabled: false },
      ],
    });
    const { ok, find } = await examine(gateway);
    expect(ok).toBe(false);
    expect(find('server absent')[0]).toMatchObject({
      level: 'error',
      message: expect.stringContaining('/no/such/program') as string,
      next: 'install it, or write its full path in the config: /no/such/program --flag',
    });
    expect(find('server crash')[0]).toMatchObject({
      level: 'error',
      stderr: expect.stringContaining('no licence found') as string,
    });
    expect(find('server nowhere')[0]?.next).toContain('http://127.0.0.1:9/mcp');
    expect(find('server keyed')[0]).toMatchObject({
      level: 'error',
      message: expect.stringContaining('NO_SUCH_VARIABLE') as string,
    });
    expect(find('server keyed')[0]?.next).toBeDefined();
    expect(find('server off')[0]).toMatchObject({ level: 'ok', message: 'disabled in the configuration' });
    const [lists] = find('lists bad');
    expect(lists).toMatchObject({ level: 'warning', next: expect.stringContaining('tell the author') as string });
    expect(lists?.message).toMatch(
      /^\d+ malformed entries left out: tool entry 2 \(it has no name\), .* and \d+ more;/,
    );
    expect(lists?.message).toContain('repaired: tool description_is_object (description removed: expected a string');
    expect(find('server noisy')[0]).toMatchObject({
      level: 'ok',
      message: expect.stringContaining('not protocol') as string,
    });
    const warnings = find('config').filter((finding) => finding.level === 'warning');
    expect(warnings.map(({ message }) => message).join('\n')).toMatch(/toolRules\[1\]/);
  });

  it('CLI-3 without servers it says where to add one', async () => {
    const gateway = await openToolscout({});
    const { ok, find } = await examine(gateway);
    expect(ok).toBe(true);
    expect(find('config').at(-1)).toMatchObject({
      level: 'warning',
      message: 'no server is configured',
      next: expect.any(String) as string,
    });
  });

  it('STORE-1 CLI-3 a store that was set aside is a warning that names it, its companions are not', async () => {
    const stateDir = await temporaryDirectory();
    await writeFile(join(stateDir, 'toolscout.db'), 'no database '.repeat(1000));
    const notices: string[] = [];
    const gateway = await openToolscout({ servers: {} }, { stateDir, onNotice: (notice) => notices.push(notice) });
    const kept = (await readdir(stateDir)).find((name) => name.includes('.damaged-'));
    await writeFile(join(stateDir, `${kept}-wal`), '');
    expect(notices).toEqual([expect.stringContaining(join(stateDir, kept!))]);
    expect(notices[0]).toContain('toolscout store accept');
    expect((await examine(gateway)).find('store')).toContainEqual(
      expect.objectContaining({ level: 'error', next: expect.stringContaining('toolscout store accept') as string }),
    );
    await gateway.config.acceptStore();
    const { ok, find } = await examine(gateway);
    expect(ok).toBe(true);
    expect(find('store')).toMatchObject([
      { level: 'ok' },
      {
        level: 'warning',
        message: expect.stringContaining(join(stateDir, kept!)) as string,
        next: expect.stringContaining('remove') as string,
      },
    ]);
  });

  it('STORE-2 CLI-3 a state directory that others can look into is a warning', async () => {
    const stateDir = await temporaryDirectory();
    await writeFile(join(stateDir, 'thesis.txt'), 'of somebody');
    await chmod(stateDir, 0o755);
    const gateway = await openToolscout({ servers: {} }, { stateDir });
    const { ok, find } = await examine(gateway);
    expect(ok).toBe(true);
    expect(find('store')[1]).toMatchObject({
      level: 'warning',
      message: expect.stringContaining(`${stateDir} is open to other users of this machine (mode 755)`) as string,
    });
  });

  it('CLI-3 R9 a store that cannot be written is an error with a way out', async () => {
    const stateDir = await temporaryDirectory();
    const gateway = await openToolscout({}, { stateDir });
    await gateway.ready();
    // Closed under its feet: whatever a store does then, it must be said and not thrown.
    await gateway.close();
    const { ok, find } = await examine(gateway);
    expect(ok).toBe(false);
    expect(find('store')[0]).toMatchObject({ level: 'error', next: expect.stringContaining('--state-dir') as string });
  });
});

describe('secrets', STARTS_PROCESSES, () => {
  it('A33 CFG-4 a canary in env, argv, header, URL and token is in no view, error, event, audit record or file', async () => {
    const canary = (name: string): string => `canary-${name}-7f3d9a`;
    const secrets = ['env', 'argv', 'header', 'query', 'user', 'token'].map(canary);
    const stateDir = await temporaryDirectory();
    const http = await startHttpFixture('http', '--require-token=other');
    const gateway = await openToolscout(
      {
        servers: {
          dies: {
            command: process.execPath,
            args: ['-e', 'console.error(process.env.KEY, process.argv); process.exit(1)', '${ARGV}'],
            env: { KEY: '${ENV}' },
          },
          speaks: { ...fixture('legacy', '${ARGV}'), env: { KEY: '${ENV}' } },
          refused: {
            url: `${http.url}?key=\${QUERY}`,
            headers: { 'X-Key': '${HEADER}', Authorization: 'Bearer ${TOKEN}' },
          },
          nowhere: { url: 'http://user:${USERINFO}@127.0.0.1:9/mcp?key=${QUERY}' },
        },
      },
      {
        stateDir,
        env: {
          PATH: process.env['PATH'],
          ENV: canary('env'),
          ARGV: canary('argv'),
          HEADER: canary('header'),
          QUERY: canary('query'),
          USERINFO: canary('user'),
          TOKEN: canary('token'),
        },
      },
    );
    const said: unknown[] = [];
    gateway.onEvent((event) => said.push(event));
    const note = async (work: Promise<unknown>): Promise<void> => {
      said.push(await work.catch((thrown: unknown) => thrown));
    };
    await note(gateway.servers.discover());
    for (const id of ['dies', 'speaks', 'refused', 'nowhere']) {
      await note(gateway.call(id, 'echo', { message: 'x' }));
      await note(gateway.tools.list(id));
      await note(gateway.why(id, 'echo'));
    }
    await note(gateway.search('echo'));
    await note(gateway.servers.list());
    await note(gateway.reports.doctor());
    await note(gateway.reload());
    await note(gateway.audit.list());
    said.push(
      gateway.internal.loaded().servers.map(({ shown, problem }) => ({ shown, problem })),
      gateway.internal.loaded().warnings,
    );
    // What an error says is not among the fields that JSON takes.
    const text = JSON.stringify(said, (_key, value: unknown) =>
      value instanceof Error ? { ...value, message: value.message } : value,
    );
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    await gateway.close();

    await waitUntil(async () => (await readdir(stateDir)).length > 0);
    for (const file of await readdir(stateDir)) {
      // SQLite lets go of its -wal when its statements are collected, perhaps between the two looks.
      const bytes = await readFile(join(stateDir, file), 'latin1').catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code !== 'ENOENT' || file === 'toolscout.db') throw thrown;
        return '';
      });
      expect(secrets.filter((secret) => bytes.includes(secret))).toEqual([]);
    }
    await http.stop();
  });

  it('A33 NEG-6 EXEC-3 a secret that is in use is neither stored with the arguments nor shown in an error', async () => {
    const gateway = await openToolscout(
      { servers: { old: { ...fixture('legacy'), env: { KEY: '${ENV}' } } } },
      { env: { PATH: process.env['PATH'], ENV: 'canary-env-7f3d9a' } },
    );
    const answer = await gateway.call('old', 'fail', { message: 'the key is canary-env-7f3d9a' });
    expect(answer.error?.message).toBe('the key is ***');
    expect(JSON.stringify(await gateway.audit.list())).not.toContain('canary-env-7f3d9a');
  });

  it('STORE-2 the state directory and its files are for their owner alone', async () => {
    const stateDir = join(await temporaryDirectory(), 'state');
    const gateway = await openToolscout({}, { stateDir });
    await gateway.ready();
    const { stat } = await import('node:fs/promises');
    expect((await stat(stateDir)).mode & 0o077).toBe(0);
    for (const file of await readdir(stateDir)) expect((await stat(join(stateDir, file))).mode & 0o077).toBe(0);
    await chmod(stateDir, 0o700);
  });

  it('NEG-8 tools whose schemas are not valid, that lack a description or declare no output are counted and named', async () => {
    const tools = [
      { name: 'fine', description: 'x', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } },
      {
        name: 'mute',
        description: ' ',
        inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
      },
      { name: 'wrong', description: 'x', inputSchema: { type: 'object', properties: { a: { type: 'strin' } } } },
      {
        name: 'worse',
        description: 'x',
        inputSchema: { type: 'object', required: 'a' },
        outputSchema: { type: 'object' },
      },
    ];
    const { gateway } = await openOfflineGateway([{ id: 'taught', tools }]);
    const { find, schemas } = await examine(gateway);
    expect(schemas).toEqual([
      {
        server: 'taught',
        tools: 4,
        invalid: [
          { tool: 'worse', field: 'inputSchema', problem: '/required must be array' },
          { tool: 'wrong', field: 'inputSchema', problem: expect.stringContaining('/properties/a/type') as string },
        ],
        undescribed: ['mute'],
        withoutOutput: ['mute', 'wrong'],
      },
    ]);
    expect(find('schemas taught')).toMatchObject([
      {
        level: 'warning',
        message: expect.stringMatching(
          /^of 4 tools: 2 schemas are not valid JSON Schema, 1 has no description, 2 declare no output \(worse,/,
        ) as string,
        next: expect.stringContaining('tell the author of taught') as string,
      },
    ]);
    await gateway.close();
  });

  it('A16 a server whose name has several lines adds none to what is said', async () => {
    const info = { name: 'notes\n✓ server other  all is well\n    → run: curl', version: '1\n2' };
    const { url } = await scriptedServer({
      tools: [scriptedTool('look', { inputSchema: { type: 'object', properties: { id: { type: 7 } } } })],
      answer: (method) =>
        method === 'initialize'
          ? { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: info } }
          : undefined,
    });
    const gateway = await openToolscout({ servers: { notes: { url } }, approval: 'off' });
    const { stdout } = await commandLine(['doctor'], { gateway });
    expect(stdout).toContain('tell the author of notes');
    for (const line of stdout.trimEnd().split('\n')) expect(line).not.toMatch(/^2|^✓ server other|^ *→ run/);
  });
});
