import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandLine, type Ran } from '../../../test/support/command-line.js';
import { fixture, temporaryDirectory } from '../../../test/support/fixture.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { META_NAMES } from '../mcp/menu/meta-menu.js';
import { ERROR_TABLE, ToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import { describeRemedy, type Remedy } from '../../kernel/remedy.js';
import { adviseAgent, type AgentMenu } from '../mcp/menu/agent-remedies.js';
import { adviseHttp } from '../http/dispatch/http-remedies.js';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];
/** Remedies that are more exact than the table. */
const EXACT: readonly Remedy[] = [
  { kind: 'none' },
  { kind: 'find-tool', listed: true },
  { kind: 'find-tool', server: 'a' },
  { kind: 'fix-arguments', server: 'a', tool: 'b' },
  { kind: 'review', ref: 'a:b' },
  { kind: 'review-change', ref: 'a:b' },
  { kind: 'check-skill', skill: 'writer' },
  { kind: 'list-pending' },
  { kind: 'call-with-effects' },
  { kind: 'undo-rejection', ref: 'a:b' },
  { kind: 'accept-lock' },
  { kind: 'search-registry' },
  { kind: 'list-pending-calls' },
  { kind: 'discover', server: 'a' },
  { kind: 'sign-in', server: 'a', again: true },
  { kind: 'accept-store' },
  { kind: 'confirm-call', id: 'call_0123456789ab' },
  { kind: 'look-first', ref: 'a:b' },
  { kind: 'look-at-each' },
  { kind: 'approve-each', server: 'a' },
  { kind: 'name-tools', server: 'a' },
  { kind: 'copy-hash' },
  { kind: 'credentials', server: 'a' },
  { kind: 'set-variables', names: ['A', 'B'] },
  { kind: 'renew-request', server: 'a' },
  { kind: 'diagnose', first: 'Try again later' },
  { kind: 'ask-for-less', limit: 'call' },
  { kind: 'ask-for-less', limit: 'total' },
  { kind: 'configure', what: 'Report it to the operator of the server.' },
  { kind: 'steps', steps: [{ kind: 'fix-arguments' }, { kind: 'ask-for-less' }] },
];
/** A command of toolscout in a sentence. */
const COMMAND = /toolscout (?!in\b|is\b|does\b|restarts\b|connects\b)[a-z]+/;
const REMEDIES = [...CODES.map((code) => ERROR_TABLE[code].remedy), ...EXACT];

describe('remedies', () => {
  it.each(REMEDIES)(
    'CLI-1 $kind: a person at a terminal reads neither a tool of agents nor "ask the user"',
    (remedy) => {
      const advice = describeRemedy(remedy);
      expect([...META_NAMES].filter((name) => advice.includes(name))).toEqual([]);
      expect(advice).not.toMatch(/the user/);
    },
  );

  it.each(REMEDIES)('REG-8 $kind: a suggestion over HTTP never names an MCP tool', (remedy) => {
    const advice = adviseHttp(remedy);
    expect([...META_NAMES].filter((name) => advice.includes(name))).toEqual([]);
    expect(advice).not.toMatch(/the user/);
  });

  it.each(REMEDIES)(
    'META-3 $kind: a suggestion to an agent never asks it to run a command or edit a file itself',
    (remedy) => {
      const advice = adviseAgent(remedy);
      // A command stands only behind the person who can run it.
      expect(!COMMAND.test(advice) || /the user/i.test(advice)).toBe(true);
      expect(advice).not.toMatch(/^(Run|Write|Set|Make|Remove|Configure) /);
      expect(advice).not.toMatch(/skill\.md|ulimit|--[a-z]/);
    },
  );

  it.each(REMEDIES)('META-3 META-5 $kind: an agent is pointed to tools that it sees only', (remedy) => {
    const named = (menu: AgentMenu): string[] =>
      [...META_NAMES].filter((name) => adviseAgent(remedy, menu).includes(name));
    expect(named('direct')).toEqual([]);
    expect(named('code').filter((name) => name !== 'search_tools' && name !== 'get_tool_details')).toEqual([]);
    for (const menu of ['direct', 'code'] as const) {
      const advice = adviseAgent(remedy, menu);
      expect(!COMMAND.test(advice) || /the user/i.test(advice)).toBe(true);
      expect(advice).not.toMatch(/^(Run|Write|Set|Make|Remove|Configure) /);
    }
  });

  it('CLI-1 META-3 REG-8 a name in a command is one word of the shell, whatever it holds', () => {
    const name = "my notes:it's; rm -rf ~";
    const word = String.raw`'my notes:it'\''s; rm -rf ~'`;
    const named: Remedy[] = [
      { kind: 'review', ref: name },
      { kind: 'review-change', ref: name },
      { kind: 'undo-rejection', ref: name },
      { kind: 'look-first', ref: name },
      { kind: 'approve-each', server: name },
      { kind: 'renew-request', server: name },
      { kind: 'discover', server: name },
      { kind: 'sign-in', server: name },
      { kind: 'check-skill', skill: name },
    ];
    for (const remedy of named) {
      for (const advice of [describeRemedy(remedy), adviseAgent(remedy), adviseHttp(remedy)]) {
        const bare = advice.replaceAll(word, 'WORD').replaceAll(`"${name}"`, 'QUOTED');
        expect(bare).not.toContain('rm -rf');
        if (/toolscout (?:approve|diff|discover|auth|skills)/.test(bare)) expect(bare).toContain('WORD');
      }
    }
  });

  it('META-3 SEC-11 an agent asks its user after a rejected call; a program and a person at a terminal are told to stop', () => {
    const { remedy } = ERROR_TABLE.CONFIRMATION_REJECTED;
    expect(adviseAgent(remedy)).toBe('Do not repeat this call; ask the user what to do instead.');
    expect(describeRemedy(remedy)).toBe('Do not repeat this call: a person rejected it.');
    expect(adviseHttp(remedy)).toBe('Do not repeat this call: a person rejected it.');
  });

  it('META-3 every missing variable has a command of its own', () => {
    expect(adviseAgent({ kind: 'set-variables', names: ['A', 'B'] })).toBe(
      'Ask the user to set them: toolscout secret set A, toolscout secret set B',
    );
  });

  it('REG-8 every path in advice for HTTP is a route of the API', () => {
    const document = readFileSync(new URL('../../../docs/http-api.md', import.meta.url), 'utf8');
    const templated = (path: string): string =>
      path
        .replace('/tools/a/b', '/tools/{server}/{tool}')
        .replace('/servers/a', '/servers/{id}')
        .replace('/approvals/a%3Ab', '/approvals/{ref}')
        .replace('/pending-calls/call_0123456789ab', '/pending-calls/{id}');
    const advised = REMEDIES.flatMap((remedy) => adviseHttp(remedy).match(/\/v1\/[\w/{}%-]+/g) ?? []);
    const paths = advised.map(templated);
    expect(paths).not.toEqual([]);
    expect([...new Set(paths)].filter((path) => !document.includes(path))).toEqual([]);
  });

  it('CLI-1 SEC-9 addresses the reader as the one who decides; JSON and text say the same', async () => {
    const stateDir = await temporaryDirectory();
    const run = (...args: string[]): Promise<Ran> =>
      commandLine(args, {
        gateway: () => openToolscout({ servers: { old: fixture('legacy') }, approval: 'manual' }, { stateDir }),
      });
    const advice = 'Look at it and decide: toolscout pending, then toolscout approve old:echo';
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

  it('EXEC-3 advice about a known server or tool names it, quoted where a shell or a URL needs it', () => {
    const wrong: Remedy = { kind: 'fix-arguments', server: 'a', tool: "it's/b" };
    expect(describeRemedy(wrong)).toContain(String.raw`toolscout inspect 'a:it'\''s/b' shows`);
    expect(adviseHttp(wrong)).toContain("GET /v1/tools/a/it's%2Fb has");
    const unknown: Remedy = { kind: 'find-tool', server: 'a' };
    expect([describeRemedy(unknown), adviseHttp(unknown)]).toEqual([
      'Find the right name with toolscout tools a or toolscout search.',
      'Find the name with GET /v1/search or GET /v1/servers/a/tools.',
    ]);
  });

  it('EXEC-3 no front words advice where the message says everything', () => {
    const { remedy, suggestion } = new ToolscoutError('INVALID_REQUEST', 'The query is empty.');
    expect([suggestion, describeRemedy(remedy), adviseAgent(remedy), adviseHttp(remedy)]).toEqual(['', '', '', '']);
    const steps: Remedy = { kind: 'steps', steps: [remedy, { kind: 'advice', text: 'Wait.' }] };
    expect(describeRemedy(steps)).toBe('Wait.');
  });

  it('EXEC-3 what a server suggests is said as it is, in every front', () => {
    const { remedy } = new ToolscoutError('TOOL_NOT_FOUND', 'x', { suggestion: 'Ask the operator.' });
    expect([describeRemedy(remedy), adviseAgent(remedy), adviseHttp(remedy)]).toEqual(
      Array.from({ length: 3 }, () => 'Ask the operator.'),
    );
  });
});
