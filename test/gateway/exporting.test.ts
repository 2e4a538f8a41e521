import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRtfs, rtfsFile } from '../../src/export/index.js';
import type { Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { commandLine } from '../support/command-line.js';
import { fixture, startHttpFixture, temporaryDirectory } from '../support/fixture.js';
import { openOfflineGateway } from '../support/offline-gateway.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
});

const filesIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

describe('exports.write', STARTS_PROCESSES, () => {
  it('SCH-3 SCH-8 rtfs goes to a directory, one file a tool and one for the server', async () => {
    const { gateway } = await openOfflineGateway([{ id: 'notes', tools: [tool('read_note'), tool('delete_note')] }], {
      toolRules: [{ pattern: 'delete_*', enabled: false }],
    });
    const directory = join(await temporaryDirectory(), 'out');
    const report = await gateway.exports.write({ format: 'rtfs', directory });
    expect(report).toEqual({
      format: 'rtfs',
      servers: 1,
      tools: 1,
      directory: await realpath(directory),
      written: 2,
      unchanged: 0,
      failed: [],
    });
    expect(await filesIn(directory)).toEqual([
      join(directory, 'notes', 'read_note.rtfs'),
      join(directory, 'notes', 'server.rtfs'),
    ]);
    const text = await readFile(join(directory, 'notes', 'read_note.rtfs'), 'utf8');
    expect(rtfsFile(readRtfs(text))).toBe(text);
    expect(await gateway.exports.write({ format: 'rtfs', directory })).toMatchObject({ written: 0, unchanged: 2 });
    await gateway.close();
  });

  it('SCH-2 the dialect is that of the call, else that of the configuration', async () => {
    const optional = { inputSchema: { type: 'object', properties: { a: { type: 'string' } } } };
    const { gateway } = await openOfflineGateway([{ id: 's', tools: [tool('t', optional)] }], { rtfsDialect: 'ccos' });
    const directory = await temporaryDirectory();
    const read = (): Promise<string> => readFile(join(directory, 's', 't.rtfs'), 'utf8');
    await gateway.exports.write({ format: 'rtfs', directory });
    expect(await read()).toContain('[:a :string?]');
    await gateway.exports.write({ format: 'rtfs', directory, dialect: 'standard' });
    expect(await read()).toContain('[:a {:optional true} :string]');
    await gateway.close();
  });

  it('SCH-3 A20 hostile names of tools stay inside and never collide', async () => {
    const names = [
      '../../x',
      '/etc/passwd',
      'CON',
      'con',
      'a/b',
      'a_b',
      'A_b',
      'a\\b',
      'a\0b',
      '.',
      '..',
      'server',
      'x'.repeat(300),
      `${'x'.repeat(299)}y`,
      'é',
      'e\u0301',
    ];
    const { gateway } = await openOfflineGateway(
      [
        { id: 'CON', tools: names.map((name) => tool(name)) },
        { id: 'con', tools: [tool('a_b')] },
      ],
      { approval: 'off' },
    );
    const parent = await temporaryDirectory();
    const directory = join(parent, 'out');
    await mkdir(join(parent, 'out-evil'));
    await gateway.exports.write({ format: 'rtfs', directory });
    const files = await filesIn(parent);
    expect(files).toHaveLength(names.length + 1 + 2);
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(files.length);
    for (const file of files) expect((await realpath(file)).startsWith(`${await realpath(directory)}/`)).toBe(true);
    const ids = await Promise.all(
      files
        .filter((file) => !file.endsWith('/server.rtfs'))
        .map(async (file) => readRtfs(await readFile(file, 'utf8')).provider.toolName),
    );
    expect(ids.toSorted()).toEqual([...names, 'a_b'].toSorted());
    await gateway.close();
  });

  it('SCH-8 CLI-1 the auto-approved mark is what the list of the client says, in the tool list, tools and inspect', async () => {
    const root = await temporaryDirectory();
    const env = { PATH: process.env['PATH'], HOME: root };
    await mkdir(join(root, '.roo'), { recursive: true });
    const roo = { mcpServers: { names: { ...fixture('legacy'), alwaysAllow: ['echo'] }, none: fixture('many') } };
    await writeFile(join(root, 'roo.json'), JSON.stringify(roo));
    const kiro = { mcpServers: { all: { ...fixture('modern'), autoApprove: ['*'] } } };
    await writeFile(join(root, 'kiro.json'), JSON.stringify(kiro));
    const sources = [
      { type: 'roo' as const, path: join(root, 'roo.json'), scope: 'user' as const },
      { type: 'kiro' as const, path: join(root, 'kiro.json'), scope: 'user' as const },
    ];
    const gateway = await openToolscout({ sources }, { env, cwd: root });
    await gateway.servers.discover();
    const marked = async (server: string): Promise<string[]> =>
      (await gateway.tools.list(server)).filter((tool) => tool.autoApproved).map(({ name }) => name);
    expect(await marked('names')).toEqual(['echo']);
    expect(await marked('none')).toEqual([]);
    expect(await marked('all')).toHaveLength((await gateway.tools.list('all')).length);
    const file = join(root, 'TOOLS.md');
    await gateway.exports.write({ format: 'markdown', file });
    const text = await readFile(file, 'utf8');
    const [, names = ''] = text.split('toolscout:begin names');
    const rows = names
      .split('toolscout:end')[0]!
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    expect(rows.filter((row) => row.includes('| ✓ |')).map((row) => row.split('`')[1])).toEqual(['echo']);
    const open = (): Promise<Gateway> => openToolscout({ sources }, { env, cwd: root });
    const tools = JSON.parse((await commandLine(['tools', 'names', '--json'], { gateway: open })).stdout);
    expect(tools.tools.filter((tool: { autoApproved: boolean }) => tool.autoApproved)).toMatchObject([
      { tool: 'echo' },
    ]);
    expect((await commandLine(['tools', 'names'], { gateway: open })).stdout).toContain('AUTO-APPROVED');
    expect((await commandLine(['tools', 'none'], { gateway: open })).stdout).not.toContain('AUTO-APPROVED');
    expect((await commandLine(['inspect', 'names:echo'], { gateway: open })).stdout).toContain('Auto-approved:');
  });

  it('SCH-8 markdown renews its sections and keeps the rest; a server that fails keeps its section', async () => {
    const file = join(await temporaryDirectory(), 'TOOLS.md');
    const first = await openToolscout({
      servers: { a: fixture('legacy'), gone: fixture('many'), old: fixture('legacy') },
    });
    expect(await first.exports.write({ format: 'markdown', file })).toMatchObject({
      file,
      servers: 3,
      written: 1,
      failed: [],
    });
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace('<!-- toolscout:begin old -->', 'Mine.\n<!-- toolscout:begin old -->'),
    );
    const second = await openToolscout({ servers: { a: { command: '/no/such/program' }, old: fixture('legacy') } });
    const report = await second.exports.write({ format: 'markdown', file });
    expect(report).toMatchObject({ servers: 1, failed: [{ server: 'a', reason: expect.any(String) as string }] });
    const text = await readFile(file, 'utf8');
    expect([...text.matchAll(/begin (\S+)/g)].map((match) => match[1])).toEqual(['a', 'old']);
    expect(text).toContain('end a -->\nMine.\n<!-- toolscout:begin old');
    expect(await second.exports.write({ format: 'markdown', file, servers: ['old'] })).toMatchObject({
      unchanged: 1,
      failed: [],
    });
  });

  it('SCH-8 a broken tool list is left as it is', async () => {
    const { gateway } = await openOfflineGateway([{ id: 's', tools: [tool('t')] }]);
    const file = join(await temporaryDirectory(), 'x.md');
    await writeFile(file, '<!-- toolscout:begin s -->\nmine\n');
    await expect(gateway.exports.write({ format: 'markdown', file })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    expect(await readFile(file, 'utf8')).toBe('<!-- toolscout:begin s -->\nmine\n');
    await gateway.close();
  });

  it('SCH-8 json and typescript are answered as text without a file, only with tools that may be called', async () => {
    const { gateway } = await openOfflineGateway([{ id: 'notes', tools: [tool('read_note'), tool('delete_note')] }], {
      toolRules: [{ pattern: 'delete_*', enabled: false }],
    });
    const json = await gateway.exports.write({ format: 'json' });
    expect(JSON.parse(json.text!)).toMatchObject({
      servers: [
        {
          id: 'notes',
          tools: [{ id: 'mcp.notes.read_note', provider: { command: 'never-started', args: ['notes'] } }],
        },
      ],
    });
    const { text } = await gateway.exports.write({ format: 'typescript' });
    expect(text).toContain('export type NotesReadNoteInput');
    expect(`${json.text}${text}`).not.toContain('delete');
    await gateway.close();
  });

  it('SCH-8 wishes that make no sense are refused', async () => {
    const { gateway } = await openOfflineGateway([{ id: 's', tools: [] }]);
    await expect(gateway.exports.write({ format: 'rtfs', file: 'x' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    await expect(gateway.exports.write({ format: 'json', directory: 'x' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    await expect(gateway.exports.write({ format: 'toString' as 'json' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    await expect(gateway.exports.write({ format: 'json', servers: ['nobody'] })).rejects.toMatchObject({
      code: 'SERVER_NOT_FOUND',
    });
    await gateway.close();
  });

  it('SCH-2 no secret of the configuration is in any export', async () => {
    const http = await startHttpFixture('http');
    const secret = 'very-secret-value-1';
    const gateway = await openToolscout(
      {
        servers: {
          local: { ...fixture('legacy', `--token=${secret}`, '${TOKEN}'), env: { KEY: secret } },
          remote: { url: `${http.url}?key=${secret}`, headers: { 'X-Key': secret } },
        },
      },
      { env: { PATH: process.env['PATH'], TOKEN: 'very-secret-value-2' } },
    );
    const directory = await temporaryDirectory();
    expect(await gateway.exports.write({ format: 'rtfs', directory })).toMatchObject({ servers: 2, failed: [] });
    const texts = await Promise.all((await filesIn(directory)).map((file) => readFile(file, 'utf8')));
    for (const format of ['markdown', 'json', 'typescript'] as const)
      texts.push((await gateway.exports.write({ format })).text!);
    expect(texts.join('')).not.toContain('very-secret');
    expect(texts.join('')).toContain(`:server-url "${http.url}"`);
    await http.stop();
  });

  it('EXEC-5 an export is recorded', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const directory = await temporaryDirectory();
    await gateway.exports.write({ format: 'rtfs', directory });
    expect(await gateway.audit.list({ kind: 'export' })).toMatchObject([
      { outcome: 'success', detail: { format: 'rtfs', servers: 1, tools: 9 } },
    ]);
  });
});

describe('exporting what is learned', STARTS_PROCESSES, () => {
  it('DISC-2 nothing is written unless exportToRtfs says so', async () => {
    const cwd = await temporaryDirectory();
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } }, { cwd });
    await gateway.servers.discover();
    await gateway.close();
    expect(await readdir(cwd)).toEqual([]);
  });

  it('DISC-2 SEC-9 exportToRtfs writes every list that was learned before the end, trusted tools to approved', async () => {
    const cwd = await temporaryDirectory();
    const gateway = await openToolscout(
      { exportToRtfs: true, servers: { old: fixture('legacy'), many: fixture('many') } },
      { cwd },
    );
    await gateway.servers.discover();
    await gateway.close();
    const approved = join(cwd, 'capabilities', 'servers', 'approved');
    expect(existsSync(join(cwd, 'capabilities', 'servers', 'pending'))).toBe(false);
    expect((await readdir(approved)).filter((name) => !name.startsWith('.'))).toEqual(['many', 'old']);
    expect(await readdir(join(approved, 'many'))).toEqual(['ping_one.rtfs', 'server.rtfs']);
    expect(await readdir(join(approved, 'old'))).toHaveLength(10);
    expect(gateway.internal.loaded().warnings).toEqual([]);
  });

  it('DISC-2 A21 a directory that cannot be written to harms neither learning nor what is there', async () => {
    const [cwd, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
    await mkdir(join(cwd, 'out'));
    await symlink(elsewhere, join(cwd, 'out', 'old'));
    const gateway = await openToolscout(
      { approval: 'manual', exportToRtfs: true, exportDirectory: 'out', servers: { old: fixture('legacy') } },
      { cwd },
    );
    expect(await gateway.servers.discover()).toMatchObject([{ ok: true, tools: 9 }]);
    await gateway.close();
    expect(await readdir(elsewhere)).toEqual([]);
    expect(existsSync(join(cwd, 'out', 'old', 'echo.rtfs'))).toBe(false);
  });
});

describe('toolSignature', STARTS_PROCESSES, () => {
  it('NEG-8 gives name, description, parameters and returns; a disabled tool is refused', async () => {
    const gateway = await openToolscout({
      toolRules: [{ pattern: 'crash', enabled: false }],
      servers: { old: fixture('legacy') },
    });
    expect(await gateway.tools.signature('old', 'add')).toEqual({
      tool_name: 'add',
      description: 'Adds two numbers.',
      parameters: expect.objectContaining({ required: ['a', 'b'] }) as object,
      returns: expect.objectContaining({ properties: { sum: { type: 'number' } } }) as object,
    });
    await expect(gateway.tools.signature('old', 'crash')).rejects.toMatchObject({ code: 'TOOL_DISABLED' });
    await expect(gateway.tools.signature('old', 'ad')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });
});
