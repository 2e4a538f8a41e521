import { chmod, lstat, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/fixture.js';
import { type LoadedConfig } from '../index.js';
import { loadConfig } from '../../../test/support/load-config.js';
import { readSecretsFile, removeSecret, withSecrets, writeSecrets } from './secrets-file.js';

const SERVER = { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${A_TOKEN}' } };

async function place(config: object = { servers: { a: SERVER } }) {
  const home = await temporaryDirectory();
  const file = join(home, 'mine.json');
  await writeFile(file, JSON.stringify(config));
  const load = (env: Record<string, string> = {}): Promise<LoadedConfig> => loadConfig({ file, cwd: home, home, env });
  return { home, load, usual: join(home, '.config/toolscout/secrets.env') };
}

describe('the file with secrets', () => {
  it('CFG-4 fills in variables of the config, from the usual file or from envFile, and hides their values', async () => {
    const { load, usual } = await place();
    expect((await load()).servers[0]?.problem).toBe('needs the environment variable A_TOKEN, which is not set');
    await writeSecrets(usual, { A_TOKEN: 'canary-1234' });
    const loaded = await load();
    expect(loaded.servers[0]?.transport).toMatchObject({ headers: { Authorization: 'Bearer canary-1234' } });
    expect(loaded.secrets).toContain('canary-1234');
    expect(loaded.secretsFile).toBe(usual);
    expect(loaded.sourceFiles).toContain(usual);
    expect((await load({ A_TOKEN: 'of-the-environment' })).servers[0]?.transport).toMatchObject({
      headers: { Authorization: 'Bearer of-the-environment' },
    });
    expect((await load({ A_TOKEN: ' ' })).servers[0]?.problem).toBeUndefined();

    const named = await place({ envFile: 'own.env', servers: { a: SERVER } });
    expect((await named.load()).warnings.map(({ path }) => path)).toContain('envFile');
    await writeSecrets(join(named.home, 'own.env'), { A_TOKEN: 'canary-5678' });
    expect((await named.load()).servers[0]?.transport).toMatchObject({
      headers: { Authorization: 'Bearer canary-5678' },
    });
  });

  it('CFG-4 A21 a file that others can read, or a link, is neither read nor written', async () => {
    const { load, usual, home } = await place();
    await writeSecrets(usual, { A_TOKEN: 'canary-1234' });
    for (const mode of [0o640, 0o604, 0o666]) {
      await chmod(usual, mode);
      const { servers, warnings } = await load();
      expect(servers[0]?.problem).toContain('A_TOKEN');
      expect(warnings.map(({ message }) => message).join()).toContain(`chmod 600 ${usual}`);
      expect(JSON.stringify(warnings)).not.toContain('canary');
      await expect(writeSecrets(usual, { B: 'bbbbbb' })).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
    }
    await chmod(usual, 0o600);
    const elsewhere = join(home, 'elsewhere');
    await rename(usual, elsewhere);
    await symlink(elsewhere, usual);
    expect((await load()).servers[0]?.problem).toContain('A_TOKEN');
    await expect(writeSecrets(usual, { B: 'bbbbbb' })).rejects.toThrow(/symbolic link/);
    expect((await lstat(usual)).isSymbolicLink()).toBe(true);
    expect(await readFile(elsewhere, 'utf8')).toBe('A_TOKEN="canary-1234"\n');
  });

  it('CFG-4 is for its owner only, keeps other lines, and gives back exactly what was set', async () => {
    const path = join(await temporaryDirectory(), 'new', 'secrets.env');
    await writeSecrets(path, { A: 'one' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await writeFile(path, '# mine\nexport A=one\nB=two\n');
    await writeSecrets(path, { A: 'three', C: 'four' });
    expect(await readFile(path, 'utf8')).toBe('# mine\nA="three"\nB=two\nC="four"\n');
    expect(await removeSecret(path, 'B')).toBe(true);
    expect(await removeSecret(path, 'B')).toBe(false);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (value) => {
        // oxlint-disable-next-line no-control-regex
        fc.pre(value.trim() !== '' && !/[\u0000-\u001f\u007f]/.test(value));
        await writeSecrets(path, { A: value });
        expect((await readSecretsFile(path)).values).toEqual({ A: value, C: 'four' });
      }),
      { numRuns: 50 },
    );
    await expect(writeSecrets(path, { A: 'x\ny=z' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(writeSecrets(path, { 'A B': 'x' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(writeSecrets(path, { A: ' ' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('CFG-4 A53 the envFile of a config that is not approved is not read', async () => {
    const home = await temporaryDirectory();
    const cwd = await temporaryDirectory();
    const theirs = join(cwd, 'theirs.env');
    await writeSecrets(theirs, { A_TOKEN: 'canary-1234' });
    await writeFile(join(cwd, 'toolscout.config.json'), JSON.stringify({ envFile: theirs, servers: { a: SERVER } }));
    const { servers, secretsFile } = await loadConfig({ cwd, home, env: {} });
    expect(servers[0]).toMatchObject({
      id: 'a',
      scope: 'project',
      problem: expect.stringContaining('A_TOKEN') as string,
    });
    expect(secretsFile).toBe(join(home, '.config/toolscout/secrets.env'));
  });

  it('CFG-7 a variable of the environment wins unless it is blank', () => {
    expect(withSecrets({ A: '1', B: '', C: undefined }, { A: '2', B: '2', C: '2', D: '2' })).toEqual({
      A: '1',
      B: '2',
      C: '2',
      D: '2',
    });
  });
});
