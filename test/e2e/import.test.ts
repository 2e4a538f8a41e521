import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SOURCE_TYPES } from '../../src/model/config.js';
import type { ImportPlan, InstallReport } from '../../src/model/source.js';
import { settle } from '../contract/importer-contract.js';
import { CLI, finish, type Finished } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

type TestHome = Awaited<ReturnType<typeof settle>>;

/** Runs the built command in the project, as the user whose home it is. */
function run(place: TestHome, ...args: string[]): Promise<Finished> {
  const env = { PATH: process.env['PATH'], HOME: place.home };
  return finish(spawn(process.execPath, [CLI, ...args], { cwd: place.project, env, stdio: 'pipe' }));
}

describe('the built command and other clients', STARTS_PROCESSES, () => {
  it('CFG-5 CLI-1 import finds every client, writes without a secret, and the second run adds nothing', async () => {
    const place = await settle(SOURCE_TYPES);
    const shown = await run(place, 'import', '--json');
    expect(shown.code).toBe(0);
    const plan = JSON.parse(shown.stdout) as ImportPlan;
    expect(plan.clients.map(({ client }) => client)).toEqual([...SOURCE_TYPES]);
    // Files with comments need a parser that the bundle must not lose.
    expect(plan.clients.find(({ client }) => client === 'cursor')?.servers).toHaveLength(3);
    const asked = await run(place, 'import');
    expect(asked.stderr).toContain('Nothing was written');

    const written = await run(place, 'import', '--yes');
    expect(written.stdout).toContain(`Added ${plan.additions} servers`);
    expect(await readFile(plan.config, 'utf8')).not.toMatch(/canary/i);
    const again = await run(place, 'import', '--yes');
    expect(again.stderr).toContain('Nothing to add');

    const listed = await run(place, 'servers', '--json');
    const { servers } = JSON.parse(listed.stdout) as { servers: Array<{ id: string; problem?: string }> };
    expect(servers).toHaveLength(plan.additions);
    expect(servers.find(({ id }) => id === 'shared')?.problem).toContain('waits for approval');
    const everything = [shown, asked, written, again, listed].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(everything).not.toMatch(/canary/i);
  });

  it('CLI-3 what install writes starts this very command, and import does not take it for a server', async () => {
    const place = await settle([]);
    const { stdout } = await run(place, 'install', 'claude-code', '--json');
    const { entry } = JSON.parse(stdout) as InstallReport & { entry: { command: string; args: string[] } };
    expect(entry).toMatchObject({ type: 'stdio', command: process.execPath, alwaysLoad: true });
    expect(entry.args).toEqual([
      CLI.replace(/js$/, 'cjs'),
      'serve',
      '--stdio',
      '--shared',
      '--config',
      join(place.home, '.config/toolscout/config.json'),
    ]);
    const plan = JSON.parse((await run(place, 'import', '--json')).stdout) as ImportPlan;
    expect(plan.clients).toMatchObject([{ client: 'claude-code', servers: [] }]);
    // Offered directly, every tool would be loaded.
    await writeFile(join(place.home, 'direct.json'), JSON.stringify({ mode: 'auto' }));
    const direct = await run(place, 'install', 'claude-code', '--json', '--config', join(place.home, 'direct.json'));
    expect(JSON.parse(direct.stdout)).toMatchObject({ action: 'updated', entry: { type: 'stdio' } });
    expect(direct.stdout).not.toContain('alwaysLoad');
    const out = await run(place, 'install', 'claude-code', '--uninstall');
    expect(out.code).toBe(0);
    expect(JSON.parse(await readFile(join(place.home, '.claude.json'), 'utf8'))).toEqual({ mcpServers: {} });
  });
});
