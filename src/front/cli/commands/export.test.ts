import { readFile, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine, type Ran } from '../../../../test/support/command-line.js';
import { temporaryDirectory } from '../../../../test/support/fixture.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';

const TOOLS = [
  {
    name: 'read_note',
    description: 'Reads a note.\u001b[2J',
    inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
  },
  { name: 'add_note', description: 'Adds a note.', inputSchema: { type: 'object' } },
];

async function run(...args: string[]): Promise<Ran> {
  const servers = [
    { id: 'notes', tools: TOOLS },
    { id: 'other', tools: [] },
  ];
  // One of the tools would be held back for what it does to terminals, and that it cannot is to be seen here.
  const { gateway } = await openOfflineGateway(servers, { approval: 'off' });
  return commandLine(args, { gateway });
}

describe('toolscout export', STARTS_PROCESSES, () => {
  it('CLI-1 SCH-8 writes markdown, json and typescript to stdout, nothing that a terminal obeys', async () => {
    const markdown = await run('export', '--format', 'markdown');
    expect(markdown).toMatchObject({ code: 0, stderr: '' });
    expect(markdown.stdout).toMatch(
      /^# Tool list\n[^]*## notes[^]*\| `add_note` \| {2}\|[^]*## other[^]*end other -->\n$/,
    );
    const json = await run('export', '-f', 'json', 'notes');
    const { servers } = JSON.parse(json.stdout) as {
      servers: Array<{ id: string; tools: Array<{ description: string }> }>;
    };
    expect(servers.map(({ id }) => id)).toEqual(['notes']);
    expect(servers[0]!.tools[1]!.description).toBe(TOOLS[0]!.description);
    const typescript = await run('export', '-f', 'typescript');
    expect(typescript.stdout).toContain('export type NotesReadNoteInput = {\n  id: number;\n};');
    expect(`${markdown.stdout}${json.stdout}${typescript.stdout}`).not.toContain('\u001b');
  });

  it('CLI-1 SCH-3 --out names the directory of rtfs and the file of the others', async () => {
    const folder = await temporaryDirectory();
    const rtfs = await run('export', '--format', 'rtfs', '--out', join(folder, 'caps'), '--dialect', 'ccos');
    expect(rtfs).toMatchObject({
      code: 0,
      stdout: `2 tools of 2 servers → ${await realpath(join(folder, 'caps'))}: 4 files written, 0 unchanged\n`,
    });
    expect(await readdir(join(folder, 'caps', 'notes'))).toEqual(['add_note.rtfs', 'read_note.rtfs', 'server.rtfs']);
    const file = join(folder, 'tools.ts');
    expect(await run('export', '--format', 'typescript', '--out', file)).toMatchObject({
      stdout: `2 tools of 2 servers → ${file}: 1 file written, 0 unchanged\n`,
    });
    expect(await readFile(file, 'utf8')).toContain('export interface Tools');
  });

  it.each(['markdown', 'json', 'typescript'])('CLI-2 SCH-3 --dialect is for rtfs, not for %s', async (format) => {
    const ran = await run('export', '--format', format, '--dialect', 'ccos');
    expect(ran).toMatchObject({ code: 64, stdout: '', opened: [] });
    expect(ran.stderr).toContain('--dialect needs --format rtfs');
  });

  it('CLI-1 --json gives the documented shape', async () => {
    const file = join(await temporaryDirectory(), 'x.json');
    const ran = await run('export', '--format', 'json', '--out', file, '--json');
    expect(JSON.parse(ran.stdout)).toEqual({
      format: 'json',
      servers: 2,
      tools: 2,
      file,
      written: 1,
      unchanged: 0,
      failed: [],
    });
    const text = JSON.parse((await run('export', '--format', 'markdown', '--json', 'other')).stdout) as {
      text: string;
    };
    expect(text).toMatchObject({
      format: 'markdown',
      servers: 1,
      tools: 0,
      failed: [],
      text: expect.stringContaining('## other') as string,
    });
  });

  it.each([['export'], ['export', '--format', 'xml'], ['export', '--format', 'rtfs', '--dialect', 'x']])(
    'CLI-2 %s %s %s makes no sense',
    async (...args) => {
      expect(await run(...args)).toMatchObject({ code: 64, stdout: '' });
    },
  );

  it('CLI-2 a server that does not exist ends with 2', async () => {
    expect(await run('export', '--format', 'json', 'nobody')).toMatchObject({ code: 2, stdout: '' });
  });

  it('NEG-8 inspect --signature prints the signature of a tool', async () => {
    const signature = {
      tool_name: 'read_note',
      description: TOOLS[0]!.description,
      parameters: TOOLS[0]!.inputSchema,
      returns: {},
    };
    const ran = await run('inspect', 'notes:read_note', '--signature');
    expect(JSON.parse(ran.stdout)).toEqual(signature);
    expect(ran.stdout).not.toContain('\u001b');
    expect(JSON.parse((await run('inspect', 'notes', 'read_note', '--signature', '--json')).stdout)).toEqual(signature);
  });
});
