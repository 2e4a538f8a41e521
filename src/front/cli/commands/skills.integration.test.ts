import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../../../../test/support/command-line.js';
import { fixture, temporaryDirectory, waitUntil } from '../../../../test/support/fixture.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';
import type { OpenOptions } from '../context.js';

async function skillFolder(...capabilities: string[]): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'talker'));
  const list = capabilities.map((name) => `- \`${name}\``).join('\n');
  await writeFile(join(directory, 'talker', 'skill.md'), `# Talker\n\n## Capabilities\n\n${list}\n`);
  return directory;
}

describe('toolscout skills', STARTS_PROCESSES, () => {
  it('NEG-3 CLI-1 list says where to configure skills when there are none', async () => {
    const gateway = (): Promise<Gateway> => openToolscout({});
    const none = await commandLine(['skills', 'list'], { gateway });
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toContain('skills.directories');
    expect((await commandLine(['skills', 'list', '--json'], { gateway })).stdout).toBe('{"skills":[]}\n');
  });

  it('NEG-3 CLI-1 list and check show what serves each capability, what else could, and what is missing', async () => {
    const directory = await skillFolder('talk:echo', 'talk:sing');
    const both = { ...fixture('legacy'), capabilities: ['talk:echo'] };
    const stateDir = await temporaryDirectory();
    const gateway = (): Promise<Gateway> =>
      openToolscout({ servers: { old: both, other: both }, skills: { directories: [directory] } }, { stateDir });
    const unknown = await commandLine(['skills', 'list'], { gateway });
    expect(unknown.stdout).toMatch(/✗ talk:echo: .*not known yet\n {4}→ .*toolscout discover old/);
    const bound = await commandLine(['skills', 'bind', 'talker', '--json'], { gateway });
    expect(bound.code).toBe(3);
    expect(JSON.parse(bound.stdout)).toMatchObject({ skill: { id: 'talker', state: 'DEGRADED' } });
    const listed = await commandLine(['skills', 'list'], { gateway });
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/^talker {2}DEGRADED {2}Talker$/m);
    expect(listed.stdout).toMatch(/✓ talk:echo → old \(declared, \d+ tools?, else other\)/);
    expect(listed.stdout).toMatch(/✗ talk:sing: .+\n {4}→ .+/);
  });

  it('NEG-3 CLI-2 a skill that has all it asks for ends with 0', async () => {
    const directory = await skillFolder('talk:echo');
    const old = { ...fixture('legacy'), capabilities: ['talk:echo'] };
    const gateway = (): Promise<Gateway> => openToolscout({ servers: { old }, skills: { directories: [directory] } });
    for (const verb of ['check', 'bind']) {
      const ran = await commandLine(['skills', verb, 'talker'], { gateway });
      expect([verb, ran.code, ran.stdout.split('\n')[0]]).toEqual([verb, 0, 'talker  READY  Talker']);
    }
  });

  it('NEG-4 CLI-1 watch shows how skills stand, then every change until it is stopped', async () => {
    const directory = await skillFolder('talk:echo', 'talk:sing');
    const old = { ...fixture('legacy'), capabilities: ['talk:echo'] };
    for (const flags of [[], ['--json']]) {
      const asked: OpenOptions[] = [];
      const ran = await commandLine(['skills', 'watch', ...flags], {
        gateway(options) {
          asked.push(options);
          return openToolscout({ servers: { old }, skills: { directories: [directory] } }, { learnAtStart: true });
        },
        stopped: (written) => waitUntil(() => written().includes('SKILL_DEGRADED'), { what: 'a change' }),
      });
      expect(ran.code).toBe(0);
      expect(asked).toMatchObject([{ learnAtStart: true, watch: true }]);
      if (flags.length > 0) {
        const events = ran.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as object);
        expect(events).toContainEqual(expect.objectContaining({ type: 'SKILL_DEGRADED', skill_id: 'talker' }));
      } else {
        expect(ran.stdout).toMatch(/^talker {2}DEGRADED/m);
        expect(ran.stdout).toMatch(/^\d{4}-\S+ talker SKILL_DEGRADED: .+\n {4}→ .+/m);
      }
    }
  });
});
