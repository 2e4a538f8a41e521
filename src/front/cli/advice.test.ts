import { describe, expect, it } from 'vitest';
import { commandLine, type Ran } from '../../../test/support/command-line.js';
import { fixture, temporaryDirectory } from '../../../test/support/fixture.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { META_NAMES } from '../mcp/menu/meta-tools.js';
import { ERROR_TABLE, type ErrorCode } from '../../kernel/errors.js';
import { adviceFor } from './advice.js';

describe('advice', () => {
  it.each(Object.keys(ERROR_TABLE) as ErrorCode[])(
    'CLI-1 %s: a person is not told to call a tool of agents',
    (code) => {
      const advice = adviceFor({ code, suggestion: ERROR_TABLE[code].suggestion });
      expect([...META_NAMES].filter((name) => advice.includes(name))).toEqual([]);
      expect(advice).not.toMatch(/the user/);
    },
  );

  it('CLI-1 SEC-9 who is to decide about a tool is the reader; JSON and text say the same', async () => {
    const stateDir = await temporaryDirectory();
    const run = (...args: string[]): Promise<Ran> =>
      commandLine(args, {
        gateway: () => openToolscout({ servers: { old: fixture('legacy') }, approval: 'manual' }, { stateDir }),
      });
    const advice = 'Look at it and decide: toolscout pending, toolscout approve old:echo';
    await run('discover');
    for (const args of [
      ['call', 'old:echo', 'message=hi'],
      ['inspect', 'old:echo'],
    ]) {
      expect((await run(...args)).stderr).toContain(advice);
      const machine = await run(...args, '--json');
      expect(machine.code).toBe(4);
      expect(JSON.parse(machine.stdout)).toMatchObject({ error: { code: 'APPROVAL_REQUIRED', suggestion: advice } });
    }
    const unknown = await run('call', 'odl:echo', '--json');
    expect(JSON.parse(unknown.stdout)).toMatchObject({
      success: false,
      error: { suggestion: 'Run toolscout servers to see the configured servers.' },
    });
    expect(JSON.parse((await run('tools', 'odl', '--json')).stdout)).toMatchObject({
      error: { suggestion: 'Run toolscout servers to see the configured servers.' },
    });
  });

  it('CLI-1 DISC-6 of a change and of a tool that was never listed as well', () => {
    expect(
      adviceFor({
        code: 'TOOL_CHANGED',
        suggestion: 'Ask the user to look at the change and to decide: toolscout diff a:b',
      }),
    ).toBe('Look at the change and decide: toolscout diff a:b');
    expect(
      adviceFor({ code: 'TOOL_DISABLED', suggestion: 'Use a tool that the server lists; list_tools names them.' }),
    ).toBe('Use a tool that the server lists; toolscout tools SERVER names them.');
  });

  it('EXEC-3 what a server or a closer look suggests is said as it is', () => {
    expect(adviceFor({ code: 'TOOL_NOT_FOUND', suggestion: 'Ask the operator.' })).toBe('Ask the operator.');
  });
});
