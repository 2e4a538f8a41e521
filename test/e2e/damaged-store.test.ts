import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture } from '../support/fixture.js';
import { lineMatching, workplace, type Workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

async function damage({ folder }: Workplace): Promise<string> {
  await mkdir(join(folder, 'state'), { recursive: true, mode: 0o700 });
  const file = join(folder, 'state', 'toolscout.db');
  await writeFile(file, 'this is no database '.repeat(500));
  return file;
}

describe('a store that was damaged', STARTS_PROCESSES, () => {
  it.each([[['servers']], [['servers', '--json']], [['cache', 'stats']]])(
    'STORE-1 %j says on stderr which file was replaced, where it is kept and what that means; once',
    async (args) => {
      const place = await workplace({ servers: { old: fixture('legacy') } });
      const file = await damage(place);
      const { code, stdout, stderr } = await place.run(...args);
      expect(code).toBe(0);
      const kept = (await readdir(join(place.folder, 'state'))).find((name) => /\.damaged-[^.]*Z$/.test(name));
      expect(stderr).toContain(file);
      expect(stderr).toContain(kept);
      expect(stderr).toContain('toolscout store accept');
      expect(stdout).not.toContain('.damaged-');
      expect((await place.run(...args)).stderr).not.toMatch(/\.damaged-|store accept/);
    },
  );

  it('STORE-1 a running toolscout says the same in its log', async () => {
    const place = await workplace({ servers: {} });
    await damage(place);
    const line = await lineMatching(place.start('serve', '--port', '0'), /\{[^\n]*"store\.doubt"[^\n]*\}/);
    expect(JSON.parse(line[0])).toMatchObject({
      level: 'warn',
      notice: expect.stringContaining('toolscout store accept') as string,
    });
  });

  it('STORE-1 CLI-3 A48 nothing is used until it is accepted; doctor says so, and names the old file from then on', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    await damage(place);
    await place.run('servers');
    expect(await place.run('call', 'old:echo', 'message=hi')).toMatchObject({ code: 4 });
    const before = await place.run('doctor');
    expect(before.code).not.toBe(0);
    expect(before.stdout).toContain('toolscout store accept');
    expect(await place.run('store', 'accept')).toMatchObject({
      code: 0,
      stdout:
        'Accepted the store: the database with your approvals was damaged; a new, empty one was created. Servers are used again.\n',
    });
    const { code, stdout } = await place.run('doctor');
    expect(code).toBe(0);
    expect(stdout).toMatch(/! store .*\.damaged-/);
  });
});
