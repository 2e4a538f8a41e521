import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture } from '../support/fixture.js';
import { scriptedServer, scriptedTool, type ScriptedAnswer } from '../support/scripted-server.js';
import { finish, lineMatching, workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const ONCE: ConfigInput = { retryPolicy: { maxRetries: 0 } };
const NOTHING: ScriptedAnswer = { status: 202 };

/** A server that takes requests for a method and answers none of them. */
const mute = (method: string, answer = NOTHING) =>
  scriptedServer({
    tools: [scriptedTool('look')],
    answer: (asked) => (asked === method ? answer : undefined),
  });

describe('how a command ends', STARTS_PROCESSES, () => {
  it.each([
    ['with 202 and nothing else', NOTHING],
    ['under a wrong id', { id: 424_242, result: { content: [] } }],
  ])(
    'EXEC-1 EXEC-5 CLI-2 a call whose server answers %s ends at its timeout, says so and is recorded',
    async (_, answer) => {
      const { url } = await mute('tools/call', answer);
      const place = await workplace({ ...ONCE, servers: { h: { url, timeoutMs: 700 } } });
      const call = await place.run('call', 'h', 'look', '--json');
      expect(call.code, call.stderr).toBe(3);
      expect(JSON.parse(call.stdout)).toMatchObject({ success: false, error: { code: 'TOOL_EXECUTION_TIMEOUT' } });
      const audit = JSON.parse((await place.run('audit', '--kind', 'execution', '--json')).stdout) as object;
      expect(audit).toMatchObject({ records: [{ outcome: 'failure', code: 'TOOL_EXECUTION_TIMEOUT' }] });
    },
  );

  it('DISC-7 CLI-2 a server that never lists its tools ends discover, tools and doctor at the timeout', async () => {
    const { url } = await mute('tools/list');
    const place = await workplace({ ...ONCE, servers: { h: { url, timeoutMs: 700 } } });
    const exits = { 'discover h': 1, 'tools h': 3, doctor: 1 };
    for (const [command, exit] of Object.entries(exits)) {
      const ended = await place.run(...command.split(' '), '--json');
      expect(ended.code, `${command}: ${ended.stderr}`).toBe(exit);
      expect(ended.stdout + ended.stderr, command).toContain('did not answer within 700 ms');
    }
  });

  it('CONN-1 CLI-2 a server that never shakes hands ends a call in time', async () => {
    const { url } = await mute('initialize');
    const place = await workplace({ ...ONCE, servers: { h: { url, timeoutMs: 700, connectTimeoutMs: 700 } } });
    const call = await place.run('call', 'h', 'look', '--json');
    expect(call.code, call.stderr).toBe(3);
    expect(JSON.parse(call.stdout)).toMatchObject({ success: false, error: { code: 'SESSION_INIT_FAILED' } });
  });

  it('EXEC-1 CONN-7 call --timeout gives up after that time, once', async () => {
    const server = await scriptedServer({ answer: (method) => (method === 'tools/call' ? NOTHING : undefined) });
    const place = await workplace({ servers: { h: { url: server.url } } });
    const call = await place.run('call', 'h', 'look', '--timeout', '300');
    expect(call.code, call.stderr).toBe(3);
    expect(call.stderr).toContain('did not answer within 300 ms');
    expect(server.count('tools/call')).toBe(1);
  });

  it('CONN-7 CLI-2 a command waits for the rate limit of a server, and then goes on', async () => {
    const { url } = await scriptedServer();
    const rateLimit = { requestsPerSecond: 0.5, burstSize: 1 };
    const place = await workplace({ servers: { h: { url, rateLimit } } });
    const doctor = await place.run('doctor', '--json');
    expect(doctor.code, doctor.stderr).toBe(0);
    expect(JSON.parse(doctor.stdout)).toMatchObject({ ok: true });
  });

  it('EXEC-5 CLI-2 audit --follow shows what comes until Ctrl-C, and ends with 0', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const following = place.start('audit', '--follow', '--json');
    const ended = finish(following);
    const seen = lineMatching(following, /"kind":"execution".*\n/);
    expect((await place.run('call', 'old', 'echo', 'message=hello')).code).toBe(0);
    await seen;
    following.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  it('NEG-3 CLI-2 skills watch goes on until Ctrl-C, and ends with 0', async () => {
    const place = await workplace({});
    const skills = join(place.folder, 'skills');
    await mkdir(join(skills, 'late'), { recursive: true });
    await place.write({ servers: { old: fixture('legacy') }, skills: { directories: [skills] } });
    const watching = place.start('skills', 'watch', '--json');
    const ended = finish(watching);
    const seen = lineMatching(watching, /"skill_id":"late".*\n/);
    // Long after everything else has come to rest it is still there to see a skill that is new.
    await delay(2500);
    await writeFile(join(skills, 'late', 'skill.md'), '# Late\n\n## Capabilities\n\n- incident:read\n');
    await seen;
    watching.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });
});
