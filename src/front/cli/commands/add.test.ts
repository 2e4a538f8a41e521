import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandLine, type Ran } from '../../../../test/support/command-line.js';
import { temporaryDirectory } from '../../../../test/support/fixture.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { validateConfig } from '../../../config/index.js';
import { parseConfig } from '../../../config/read/parse.js';
import { systemClock } from '../../../kernel/clock.js';
import { silentLog } from '../../../kernel/log.js';
import { openSqliteStore } from '../../../store/index.js';

interface ClientEnvironment {
  readonly cwd: string;
  readonly own: string;
  run(...args: string[]): Promise<Ran>;
}

/** A user with an empty home, in an empty folder. */
async function settle(): Promise<ClientEnvironment> {
  const home = await temporaryDirectory();
  const cwd = join(home, 'work');
  await mkdir(cwd);
  const process = { cwd, env: { HOME: home } };
  return {
    cwd,
    own: join(home, '.config/toolscout'),
    run: (...args) =>
      commandLine(args, { process, confirm: () => Promise.reject(new Error('This must not ask anything.')) }),
  };
}

const read = async (path: string): Promise<{ text: string; config: Record<string, Record<string, unknown>> }> => {
  const text = await readFile(path, 'utf8');
  return { text, config: (await parseConfig(text, path)) as Record<string, Record<string, unknown>> };
};

describe('init', STARTS_PROCESSES, () => {
  it("CLI-1 writes the user's own config with comments and its schema, for its owner only, and says what is next", async () => {
    const { run, own } = await settle();
    const ran = await run('init');
    const path = join(own, 'config.jsonc');
    expect(ran).toMatchObject({ code: 0, stdout: `Wrote ${path}\n` });
    expect(ran.stderr).toMatch(/Next:\n {2}toolscout add NAME -- COMMAND ARGS…/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const { text, config } = await read(path);
    expect(text).toMatch(/\/\/ Your MCP servers/);
    expect(config).toEqual({ $schema: expect.stringMatching(/^https:.*config\.json$/) as string, servers: {} });
    expect(validateConfig(config)).toEqual({ problems: [], warnings: [] });
  });

  it.each(['json', 'jsonc', 'yaml', 'yml', 'toml', 'ts', 'js', 'mjs'])(
    'CLI-1 CFG-1 writes a valid config in the format %s, and its examples are valid too',
    async (format) => {
      const { run, cwd } = await settle();
      const file = join(cwd, 'sub', `tools.${format}`);
      expect(await run('init', '--config', file, '--json')).toMatchObject({ code: 0, stderr: '' });
      const { text, config } = await read(file);
      expect(validateConfig(config)).toEqual({ problems: [], warnings: [] });
      if (!['ts', 'js', 'mjs'].includes(format)) expect(text).toMatch(/schema.*https:\/\/.*config\.json/);
      if (format === 'json') return;
      // Explanations begin with a capital letter; what else is a comment is an example.
      const examples = text.replaceAll(/^(\s*)(?:#|\/\/) ?(?=\s*["[{}\]a-z-])(?!\s*yaml-language)/gm, '$1');
      const shown = (await parseConfig(examples, file)) as { servers: object };
      expect(validateConfig(shown).problems).toEqual([]);
      expect(Object.keys(shown.servers)).toEqual(['files', 'issues']);
    },
  );

  it('CLI-1 never writes over a file, nor beside one that would hide it', async () => {
    const { run, own, cwd } = await settle();
    await mkdir(own, { recursive: true });
    await writeFile(join(own, 'config.yaml'), 'timeoutMs: 5\n');
    const ran = await run('init', '--json');
    expect(ran.code).toBe(2);
    expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'CONFIGURATION_ERROR' } });
    expect(ran.stderr).toContain('config.yaml already exists');
    expect(await readdir(own)).toEqual(['config.yaml']);
    const project = await run('init', '--project', '--json');
    expect(JSON.parse(project.stdout)).toMatchObject({ path: join(cwd, 'toolscout.config.jsonc') });
    const before = await readFile(join(cwd, 'toolscout.config.jsonc'), 'utf8');
    expect((await run('init', '--config', join(cwd, 'toolscout.config.jsonc'))).code).toBe(2);
    expect(await readFile(join(cwd, 'toolscout.config.jsonc'), 'utf8')).toBe(before);
  });
});

describe('add and remove', STARTS_PROCESSES, () => {
  it.each(['json', 'jsonc', 'yaml', 'yml', 'toml'])(
    'CLI-1 S25 a server is added to a %s config and taken out again; everything else stays, comments included',
    async (format) => {
      const { run, cwd } = await settle();
      const file = join(cwd, `tools.${format}`);
      await run('init', '--config', file);
      const before = await read(file);
      const long = `/data/${'x'.repeat(300)}`;
      const added = await run(
        'add',
        'files',
        '--config',
        file,
        '--env',
        'HOME',
        '--',
        'npx',
        '-y',
        'server',
        long,
        '--json',
      );
      expect(added).toMatchObject({ code: 0, stdout: `Added "files" to ${file}.\n` });
      expect(added.stderr).toContain(`runs: npx -y server ${long} --json\n`);
      const entry = { command: 'npx', args: ['-y', 'server', long, '--json'], env: { HOME: '${HOME}' } };
      const header = 'Authorization: Bearer ${ISSUES_TOKEN}';
      const url = 'https://mcp.example.com/mcp';
      const second = await run(
        'add',
        'issues',
        '--config',
        file,
        '--json',
        '--url',
        url,
        '--header',
        header,
        '--tag',
        'a',
      );
      expect(JSON.parse(second.stdout)).toEqual({
        id: 'issues',
        problem: expect.stringContaining('ISSUES_TOKEN') as string,
        path: file,
        created: false,
        transport: { type: 'http', target: url, secrets: ['Authorization'] },
      });
      const { text, config } = await read(file);
      expect(config['servers']).toEqual({
        files: entry,
        issues: { url, headers: { Authorization: 'Bearer ${ISSUES_TOKEN}' }, tags: ['a'] },
      });
      const comments = before.text.match(/^\s*(?:#|\/\/).*$/gm) ?? [];
      for (const comment of comments) expect(text).toContain(comment.trim());
      expect(await run('remove', 'files', '--config', file)).toMatchObject({ code: 0, stderr: '' });
      expect(await run('remove', 'issues', '--config', file, '--json')).toMatchObject({ code: 0 });
      const after = await read(file);
      expect(after.config['servers'] ?? {}).toEqual({});
      for (const comment of comments) expect(after.text).toContain(comment.trim());
    },
  );

  it("CLI-1 without a config the user's own is made; with one that is in force, that one is written", async () => {
    const { run, own, cwd } = await settle();
    const first = await run('add', 'a', '--json', '--', 'server-a');
    expect(JSON.parse(first.stdout)).toMatchObject({ path: join(own, 'config.json'), created: true });
    expect((await stat(join(own, 'config.json'))).mode & 0o777).toBe(0o600);
    const yaml = join(cwd, 'toolscout.config.yaml');
    await writeFile(yaml, '# mine\nservers:\n');
    expect(await run('config', 'approve', '--yes')).toMatchObject({ code: 0 });
    expect(await run('add', 'b', '--', 'server-b')).toMatchObject({ code: 0, stdout: `Added "b" to ${yaml}.\n` });
    expect(await readFile(yaml, 'utf8')).toBe('# mine\nservers:\n  b:\n    command: server-b\n');
    expect((await read(join(own, 'config.json'))).config).toEqual({ servers: { a: { command: 'server-a' } } });
  });

  it.each([
    [['--env', 'API_KEY=canary-1234'], ['x'], 'env API_KEY'],
    [['--header', 'X-Api-Key=canary-1234', '--url', 'https://a.example/mcp'], [], 'header X-Api-Key'],
    [['--header', 'Authorization: Bearer canary-1234', '--url', 'https://a.example/mcp'], [], 'header Authorization'],
    [['--url', 'https://user:canary-1234@a.example/mcp'], [], 'url'],
    [[], ['x', '--token=canary-1234'], 'argument 1'],
    [[], ['x', '--api-key', 'canary-1234'], 'argument 2'],
  ])('CLI-1 A34 a credential in clear is refused, named and never repeated: %j %j', async (flags, words, what) => {
    const { run, own } = await settle();
    const line = ['add', 'a', '--json', ...flags, ...(words.length > 0 ? ['--', ...words] : [])];
    const refused = await run(...line);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(what);
    expect(refused.stderr).toContain("'${NAME}'");
    expect(refused.stdout + refused.stderr).not.toContain('canary');
    const allowed = await run('add', 'a', '--allow-secrets', ...line.slice(2));
    expect(allowed.code).toBe(0);
    expect(allowed.stdout + allowed.stderr).not.toContain('canary');
    expect(await readFile(join(own, 'config.json'), 'utf8')).toContain('canary-1234');
  });

  it.each([
    [['add', 'a'], 'either a command'],
    [['add', 'a', '--url', 'https://a.example', '--', 'x'], 'Both --url and a command were given'],
    [['add', 'a', '--url', 'notaurl'], 'Correct the named value'],
    [['add', 'a', '--url', 'https://a.example', '--env', 'A=b'], '--env and --cwd'],
    [['add', 'a', '--header', 'A=b', '--', 'x'], '--header is for --url'],
    [['add', 'a', '--env', 'canary value', '--', 'x'], '--env NAME=value'],
    [['add', 'a', '--url', 'ftp://a.example'], 'must begin with http'],
    [['add', 'a b', '--', 'x'], 'use "a-b"'],
    [['remove', 'a'], 'There is no config'],
  ])('CLI-1 %j is refused with what to do, and nothing is written', async (line, said) => {
    const { run, own } = await settle();
    const ran = await run(...line);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(said);
    expect(ran.stderr).not.toContain('yourself');
    expect(ran.stderr).not.toContain('canary');
    await expect(readdir(own)).rejects.toThrow(/ENOENT/);
  });

  it.each(['ts', 'js', 'mjs'])(
    'CLI-1 a %s config is code: it is left alone, and what to write is shown',
    async (format) => {
      const { run, cwd } = await settle();
      const file = join(cwd, `toolscout.config.${format}`);
      const text = "export default { servers: { a: { command: 'a' } } };\n";
      await writeFile(file, text);
      const ran = await run('add', 'files', '--config', file, '--', 'npx', '-y', 'server');
      expect(ran.code).toBe(2);
      expect(ran.stderr).toContain('is code, which toolscout does not edit');
      expect(ran.stderr).toContain('{"files":{"command":"npx","args":["-y","server"]}}');
      const bad = await run('add', 'bad name', '--config', file, '--', 'npx');
      expect(bad.stderr).toMatch(/use "bad-name"[^]*Correct the named value/);
      expect((await run('remove', 'a', '--config', file)).stderr).toContain('Remove "a" from "servers"');
      expect(await readFile(file, 'utf8')).toBe(text);
    },
  );

  it('CLI-1 CFG-4 a variable that is not set is named before the next step, also from the file with secrets', async () => {
    const { run, own } = await settle();
    const line = ['--url', 'https://a.example/mcp', '--header', 'Authorization=Bearer ${ISSUES_TOKEN}'];
    const unset = await run('add', 'a', ...line);
    expect(unset.code).toBe(0);
    expect(unset.stderr).toMatch(/It cannot be used yet: .*ISSUES_TOKEN[^]*toolscout secret set ISSUES_TOKEN[^]*Try: /);
    await writeFile(join(own, 'secrets.env'), 'ISSUES_TOKEN="x1234567"\n', { mode: 0o600 });
    expect((await run('add', 'b', ...line)).stderr).not.toContain('cannot be used');
  });

  it('CLI-1 a name that is taken, and one that is not there, are refused', async () => {
    const { run, own } = await settle();
    await run('add', 'a', '--', 'first');
    const twice = await run('add', 'a', '--', 'second');
    expect(twice.code).toBe(2);
    expect(twice.stderr).toMatch(/has a server "a" already[^]*toolscout remove a/);
    expect((await read(join(own, 'config.json'))).config['servers']).toEqual({ a: { command: 'first' } });
    const absent = await run('remove', 'b', '--json');
    expect(absent.code).toBe(2);
    expect(JSON.parse(absent.stdout)).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
    expect(absent.stderr).toContain('toolscout servers --json');
  });
});

describe('config approve', STARTS_PROCESSES, () => {
  it('SEC-9 CLI-2 shows whole commands and settings; asks, or needs a hash, and ends with 4 when it is not approved', async () => {
    const { run, cwd } = await settle();
    const file = join(cwd, 'toolscout.config.json');
    const args = ['-c', `touch ${'x'.repeat(300)}`];
    await writeFile(file, JSON.stringify({ approval: 'off', servers: { a: { command: 'sh', args } } }));
    const shown = JSON.parse((await run('config', 'approve', '--json')).stdout) as { hash: string; approved: boolean };
    expect(shown).toMatchObject({ approved: false, isCode: false, settings: ['approval'] });
    const denied = await commandLine(['config', 'approve'], {
      process: { cwd, env: { HOME: join(cwd, '..') } },
      confirm: async () => false,
    });
    expect(denied.code).toBe(4);
    expect(denied.stdout).toContain(args[1]);
    expect(denied.stdout).toContain('settings: approval');
    expect(await run('config', 'approve', '--hash', '000000000000')).toMatchObject({ code: 4 });
    expect(await run('config', 'approve', '--hash', shown.hash.slice(0, 12))).toMatchObject({ code: 0 });
    expect(await run('config', 'approve')).toMatchObject({ code: 0 });
    expect((await run('config', 'approve', '--withdraw')).stdout).toContain('is not used any more');
    expect(await run('config', 'approve', '--withdraw')).toMatchObject({ code: 0 });
  });

  it('SEC-9 EXEC-5 an approval and its withdrawal are in the audit log', async () => {
    const { run, cwd } = await settle();
    const file = join(cwd, 'toolscout.config.ts');
    await writeFile(file, 'export default {};');
    const state = join(cwd, 'state');
    const approve = ['config', 'approve', '--state-dir', state];
    await run(...approve, '--json');
    const { hash } = JSON.parse((await run(...approve, '--yes', '--json')).stdout) as { hash: string };
    // Once approved and once withdrawn; what changes nothing is not recorded.
    await run(...approve, '--yes', '--json');
    await run(...approve, '--withdraw');
    await run(...approve, '--withdraw');
    const store = await openSqliteStore({ directory: state, clock: systemClock, log: silentLog });
    onTestFinished(() => store.close());
    const detail = { path: file, hash, isCode: true };
    expect(await store.audit({})).toMatchObject([
      { kind: 'config-withdraw', principal: 'local', route: 'cli', outcome: 'success', detail },
      { kind: 'config-approve', principal: 'local', route: 'cli', outcome: 'success', detail },
    ]);
  });

  it('SEC-9 a config that init wrote to a folder is approved', async () => {
    const { run, cwd } = await settle();
    expect(await run('init', '--project')).toMatchObject({ code: 0 });
    expect(JSON.parse((await run('add', 'a', '--json', '--', 'a')).stdout)).toMatchObject({
      path: join(cwd, 'toolscout.config.jsonc'),
    });
    expect(JSON.parse((await run('add', 'b', '--json', '--', 'b')).stdout)).toMatchObject({
      path: join(cwd, 'toolscout.config.jsonc'),
    });
  });
});
