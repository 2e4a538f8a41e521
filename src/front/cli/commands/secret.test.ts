import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { commandLine, type Ran } from '../../../../test/support/command-line.js';
import { temporaryDirectory } from '../../../../test/support/fixture.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { readSecret, SecretCancelled } from '../../../app/read-secret.js';

async function settle() {
  const home = await temporaryDirectory();
  const cwd = join(home, 'work');
  await mkdir(cwd);
  const run = (stdin: string, ...args: string[]): Promise<Ran> =>
    commandLine(args, { process: { cwd, env: { HOME: home } }, stdin });
  return { home, cwd, run, file: join(home, '.config/toolscout/secrets.env') };
}

describe('secret', STARTS_PROCESSES, () => {
  it('CFG-4 CLI-1 set reads the value from stdin and shows it nowhere; list shows names; remove removes', async () => {
    const { run, file } = await settle();
    const set = await run('canary-1234\n', 'secret', 'set', 'A_TOKEN');
    expect(set).toMatchObject({ code: 0, stdout: `Set A_TOKEN in ${file}.\n` });
    expect(await readFile(file, 'utf8')).toBe('A_TOKEN="canary-1234"\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const listed = await run('', 'secret', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toEqual({ path: file, names: ['A_TOKEN'] });
    expect(await run('', 'secret', 'remove', 'A_TOKEN')).toMatchObject({ code: 0 });
    expect(await run('', 'secret', 'remove', 'A_TOKEN')).toMatchObject({ code: 2 });
    for (const ran of [set, listed]) expect(ran.stdout + ran.stderr).not.toContain('canary');
  });

  it('CFG-4 CLI-2 a value is never an argument, and an empty one or a bad name is refused', async () => {
    const { run } = await settle();
    const given = await run('', 'secret', 'set', 'A_TOKEN', 'canary-1234');
    expect(given.code).toBe(64);
    expect(given.stdout + given.stderr).not.toContain('canary');
    expect((await run('', 'secret', 'set', 'A_TOKEN')).stderr).toContain('the value is empty');
    expect((await run('x', 'secret', 'set', 'A TOKEN')).stderr).toContain('is not the name of a variable');
  });

  it('CFG-4 CLI-3 a file that others can read is not listed, and the advice is about that file', async () => {
    const { run, file } = await settle();
    await run('canary-1234', 'secret', 'set', 'A_TOKEN');
    await chmod(file, 0o644);
    const listed = await run('', 'secret', 'list');
    expect(listed.stderr).toContain('Repair the file, or name another with envFile in the config.');
    expect(listed.stderr).not.toContain('config validate');
  });

  it('CFG-4 CLI-1 every verb says what it did, as text and as JSON, without the value', async () => {
    const { run, file } = await settle();
    expect(await run('', 'secret', 'list')).toMatchObject({ stdout: '', stderr: `No secret is set in ${file}.\n` });
    const set = await run('canary-1234', 'secret', 'set', 'A_TOKEN', '--json');
    expect(JSON.parse(set.stdout)).toEqual({ name: 'A_TOKEN', path: file });
    expect(await run('', 'secret', 'list')).toMatchObject({ stdout: 'A_TOKEN\n', stderr: `In ${file}.\n` });
    const remove = ['secret', 'remove', 'A_TOKEN', '--json'];
    expect(JSON.parse((await run('', ...remove)).stdout)).toEqual({ name: 'A_TOKEN', path: file, removed: true });
    expect(await run('', ...remove)).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('"removed":false') as string,
    });
  });

  it('CFG-4 the file is the one that the config names', async () => {
    const { run, cwd } = await settle();
    const config = join(cwd, 'mine.yaml');
    await writeFile(config, 'envFile: own.env\n');
    expect((await run('canary', 'secret', 'set', 'A', '--config', config)).stdout).toContain(join(cwd, 'own.env'));
  });

  it('CFG-4 at a keyboard it is typed without echo, with backspace, and can be cancelled', async () => {
    const keyboard = (...keys: string[]) => {
      const modes: boolean[] = [];
      const input = Object.assign(Readable.from(keys), {
        isTTY: true as const,
        setRawMode: (on: boolean) => modes.push(on),
      });
      return { modes, input: input as unknown as Parameters<typeof readSecret>[0] };
    };
    const asked: string[] = [];
    const typed = keyboard('canar', 'yx\u007f', '\r');
    expect(await readSecret(typed.input, (text) => asked.push(text), 'A: ')).toBe('canary');
    expect(typed.modes).toEqual([true, false]);
    expect(asked).toEqual(['A: ', '\n']);
    const cancelled = keyboard('abc', '\u0003');
    await expect(readSecret(cancelled.input, () => undefined, 'A: ')).rejects.toBeInstanceOf(SecretCancelled);
    expect(cancelled.modes).toEqual([true, false]);
    expect(await readSecret(Readable.from(['piped\n']), () => undefined, 'A: ')).toBe('piped\n');
  });
});
