import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine, type Ran, type Surroundings } from '../../../../test/support/command-line.js';
import { fixture, temporaryDirectory } from '../../../../test/support/fixture.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';

/** Runs a script that comes in on stdin. */
const run = (script: string, flags: readonly string[] = [], around: Surroundings = {}): Promise<Ran> =>
  commandLine(['run', '-', ...flags], {
    gateway: () => openToolscout({ servers: { old: fixture('legacy') } }),
    stdin: script,
    ...around,
  });

describe('toolscout run', STARTS_PROCESSES, () => {
  it('CODE-9 prints what a script returns, and on stderr what it prints', async () => {
    const ran = await run('print("adding"); return await tools.old.add({ a: 1, b: 2 });');
    expect(ran).toMatchObject({ code: 0, stderr: 'adding\n' });
    expect(JSON.parse(ran.stdout)).toEqual({ sum: 3 });
    expect(await run('return "a text\\u001b[2J"')).toMatchObject({ code: 0, stdout: 'a text\\u001b[2J\n' });
  });

  it('CODE-6 CODE-9 says that a script returned nothing', async () => {
    expect(await run('const unused = 1;')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'The script returned nothing. Use return to give a value back.\n',
    });
  });

  it('CODE-9 runs a script of a file, and refuses a file that cannot be read', async () => {
    const folder = await temporaryDirectory();
    const file = join(folder, 'report.js');
    await writeFile(file, 'return 6 * 7;');
    const gateway = () => openToolscout({});
    expect(await commandLine(['run', file], { gateway })).toMatchObject({ code: 0, stdout: '42\n' });
    const missing = await commandLine(['run', join(folder, 'nothing.js')], { gateway });
    expect(missing).toMatchObject({ code: 64, stdout: '', opened: [] });
    expect(missing.stderr).toContain('There is no file');
  });

  it('CODE-6 CLI-2 a script that throws names its line and ends with 3; as JSON it names no remedy', async () => {
    const script = 'const one = 1;\nthrow new Error("no luck");';
    const ran = await run(script);
    expect(ran).toMatchObject({ code: 3, stdout: '' });
    expect(ran.stderr).toMatch(/no luck/);
    expect(ran.stderr).toMatch(/line 2/);
    const json = await run(script, ['--json']);
    expect(json.code).toBe(3);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { message: expect.stringContaining('no luck') as string } });
    expect(json.stdout).not.toContain('remedy');
  });

  it('CODE-9 --json prints the value, what was printed and the calls', async () => {
    const ran = await run('print("one"); return await tools.old.add({ a: 2, b: 2 });', ['--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ value: { sum: 4 }, printed: ['one'] });
  });

  it('CODE-3 CODE-9 --timeout ends a script that goes on', async () => {
    const ran = await run('for (;;) await tools.old.add({ a: 1, b: 1 });', ['--timeout', '300']);
    expect(ran.code).not.toBe(0);
    expect(ran.stdout).toBe('');
  });

  it('CODE-7 CODE-9 Ctrl-C cancels the script and its calls', async () => {
    const ran = await run('for (;;) await tools.old.add({ a: 1, b: 1 });', [], { stopped: async () => undefined });
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toMatch(/cancel/i);
  });

  it('NEG-5 CODE-9 --skill runs as a skill that does not exist: nothing is called', async () => {
    const ran = await run('return await tools.old.add({ a: 1, b: 1 });', ['--skill', 'nobody']);
    expect(ran).toMatchObject({ stdout: '' });
    expect(ran.code).not.toBe(0);
  });
});
