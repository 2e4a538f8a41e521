import { readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settle } from '../../test/contract/importer-contract.js';
import type { SourceType } from '../model/config.js';
import { install as installWith, installableClients, type InstallOptions } from './install.js';
import { parseData } from '../config/read/parse.js';
import { importClient } from './import-sources.js';
import { IMPORTERS } from './importers.js';

const STDIO = {
  type: 'stdio',
  command: '/usr/bin/node',
  args: ['/opt/toolscout/dist/cli.js', 'serve', '--stdio'],
} as const;
const HTTP = { type: 'http', url: 'http://127.0.0.1:7077/mcp' } as const;

type Wish = Omit<InstallOptions, 'showsMetaTools'> & Partial<InstallOptions>;

const install = (wish: Wish): ReturnType<typeof installWith> => installWith({ showsMetaTools: () => true, ...wish });

interface Case {
  readonly client: SourceType;
  readonly scope: 'user' | 'project';
  readonly launch: typeof STDIO | typeof HTTP;
}

const place0 = { platform: 'linux', home: '/h', project: '/p', env: {} };
const CASES = installableClients().flatMap((client): Case[] =>
  (['user', 'project'] as const).flatMap((scope) =>
    [STDIO, HTTP]
      .filter((launch) => IMPORTERS[client].installation!.entry(launch) !== undefined)
      .filter(() => IMPORTERS[client].installation!.file(place0, scope) !== undefined)
      .map((launch) => ({ client, scope, launch })),
  ),
);

describe('install', () => {
  it('CLI-3 every client but the inventories can be installed in', () => {
    expect(installableClients()).toHaveLength(Object.keys(IMPORTERS).length - 4);
    expect(CASES.length).toBeGreaterThan(50);
  });

  it.each(CASES)(
    'CLI-3 $client, file of the $scope, over $launch.type: in, again, out; all else stays',
    async (each) => {
      const { client, scope } = each;
      const place = await settle([client]);
      const { path, format } = IMPORTERS[client].installation!.file(place, scope)!;
      const isThere = existsSync(path);
      const text = isThere ? await readFile(path, 'utf8') : '';
      // The recorded files of some have us in them already; the way begins without.
      const clean = { client, place, scope, launch: each.launch } as Wish;
      await install({ ...clean, uninstall: true });
      const before = existsSync(path) ? await readFile(path, 'utf8') : '';
      const data = await parseData(before, path, format);

      const first = await install(clean);
      expect(first).toMatchObject({ action: 'added', written: true, file: path });
      expect(first.next).toContain(IMPORTERS[client].title);
      if (isThere) expect(await readFile(first.backup!, 'utf8')).toBe(before);
      const written = await readFile(path, 'utf8');
      expect(written).toContain(each.launch.type === 'http' ? HTTP.url : STDIO.args[0]);
      for (const remark of before.match(/(?:\/\/|#) [a-z ]+$/gm) ?? []) expect(written).toContain(remark);

      expect(await install(clean)).toMatchObject({ action: 'unchanged', written: false });
      expect(await readFile(path, 'utf8')).toBe(written);
      const { servers } = await importClient(client, place);
      expect(servers.filter(({ id }) => id === 'toolscout')).toEqual([]);

      expect(await install({ ...clean, uninstall: true })).toMatchObject({ action: 'removed', written: true });
      expect(await install({ ...clean, uninstall: true })).toMatchObject({ action: 'absent', written: false });
      const after = (await parseData(await readFile(path, 'utf8'), path, format)) as object;
      if (isThere && text.includes(IMPORTERS[client].installation!.key.at(-1)!)) expect(after).toEqual(data);
      else expect(Object.keys(after)).toEqual(expect.arrayContaining(Object.keys(data as object)));
    },
  );

  it('CLI-3 another way to reach it replaces the entry; what the user added to it stays and is not shown', async () => {
    const place = await settle(['cline']);
    const base = { client: 'cline', place, scope: 'user', launch: STDIO } as const;
    const { file } = await install(base);
    const data = JSON.parse(await readFile(file, 'utf8')) as { mcpServers: Record<string, object> };
    Object.assign(data.mcpServers['toolscout']!, {
      env: { ISSUES_TOKEN: 'canary-token' },
      autoApprove: ['search_tools'],
    });
    await writeFile(file, JSON.stringify(data));
    const report = await install({ ...base, launch: HTTP });
    expect(report.action).toBe('updated');
    expect(JSON.stringify(report)).not.toContain('canary');
    const after = JSON.parse(await readFile(file, 'utf8')) as typeof data;
    expect(after.mcpServers['toolscout']).toEqual({
      type: 'streamableHttp',
      url: HTTP.url,
      env: { ISSUES_TOKEN: 'canary-token' },
      autoApprove: ['search_tools'],
    });
  });

  it('CLI-3 a trial writes nothing and says what it would', async () => {
    const place = await settle([]);
    const report = await install({ client: 'cursor', place, scope: 'user', launch: HTTP, dryRun: true });
    expect(report).toMatchObject({ action: 'added', written: false, entry: { url: HTTP.url } });
    expect(existsSync(report.file)).toBe(false);
  });

  it('CLI-3 a file that cannot be read is not touched', async () => {
    const place = await settle(['cursor']);
    const { path } = IMPORTERS.cursor.installation!.file(place, 'user')!;
    await writeFile(path, '{ "mcpServers": { broken');
    await expect(install({ client: 'cursor', place, scope: 'user', launch: STDIO })).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
    });
    expect(await readFile(path, 'utf8')).toBe('{ "mcpServers": { broken');
    expect(existsSync(`${path}.toolscout-backup-1`)).toBe(false);
  });

  it('CLI-3 what a client cannot do is said, with what it can', async () => {
    const place = await settle([]);
    const refused = (more: Partial<InstallOptions>): Promise<unknown> =>
      install({ client: 'claude-desktop', place, scope: 'user', launch: STDIO, ...more });
    await expect(refused({ launch: HTTP })).rejects.toMatchObject({ suggestion: 'Install it with --stdio.' });
    await expect(refused({ scope: 'project' })).rejects.toMatchObject({ suggestion: 'Install it without --project.' });
    await expect(refused({ client: 'air' })).rejects.toMatchObject({ suggestion: 'Install it with --project.' });
    await expect(refused({ client: 'tools-yaml' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('CLI-3 META-5 alwaysLoad is written for a client that supports it and sees the five tools, and removed otherwise', async () => {
    const place = await settle([]);
    const asked: string[] = [];
    const entryFor = async (client: SourceType, isShown: boolean): Promise<unknown> => {
      const showsMetaTools = (host: string): boolean => asked.push(host) > 0 && isShown;
      const { file } = await install({ client, place, scope: 'user', launch: STDIO, showsMetaTools });
      const { mcpServers } = JSON.parse(await readFile(file, 'utf8')) as { mcpServers: Record<string, unknown> };
      return mcpServers['toolscout'];
    };
    expect(await entryFor('claude-code', true)).toEqual({ ...STDIO, alwaysLoad: true });
    expect(await entryFor('claude-code', false)).toEqual(STDIO);
    expect(await entryFor('cursor', true)).not.toHaveProperty('alwaysLoad');
    expect(new Set(asked)).toEqual(new Set(['claude-code']));
  });
});
