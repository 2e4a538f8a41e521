import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine, type Ran } from '../../../test/support/command-line.js';
import { fixture, temporaryDirectory } from '../../../test/support/fixture.js';
import { openOfflineGateway } from '../../../test/support/offline-gateway.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import type { Gateway } from '../../gateway/index.js';
import { ERROR_TABLE, ToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import type { CallResult } from '../../model/call.js';
import type { ConfigInput } from '../../model/config.js';
import type { SearchAnswer } from '../../model/hit.js';

const ESC = '\u001b';
// Everything a terminal would obey, but the line end.
// oxlint-disable-next-line no-control-regex
const HARMLESS = /^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]*$/;

const TOOLS = [
  {
    name: 'read_note',
    description: 'Reads a note.',
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'integer', description: 'Which note.' }, mode: { enum: ['short', 'full'] } },
      required: ['id'],
    },
  },
  { name: 'delete_note', description: 'Deletes a note for ever.', inputSchema: { type: 'object' } },
  {
    name: 'disguised',
    description: `${ESC}[2Jred\r\u202e alert`,
    inputSchema: {
      type: 'object',
      properties: { [`x${ESC}[2J`]: { type: 'string', description: `${ESC}]0;title\u0007` } },
    },
  },
];

/** A gateway with the server `notes` that can start nothing. */
async function notes(config: ConfigInput = {}): Promise<Gateway> {
  const rules = [
    { pattern: 'delete_*', enabled: false },
    { pattern: 'read_*', tags: ['safe'] },
  ];
  // One of the tools would be held back for what it does to terminals, and that it cannot is to be seen here.
  const all: ConfigInput = { toolRules: rules, approval: 'off', ...config };
  return (await openOfflineGateway([{ id: 'notes', tools: TOOLS }], all)).gateway;
}

const run = async (gateway: Gateway, ...args: string[]): Promise<Ran> => commandLine(args, { gateway });
const json = (ran: Ran): unknown => JSON.parse(ran.stdout) as unknown;

describe('the command line', STARTS_PROCESSES, () => {
  it('CLI-1 docs/cli.md names every command, and which of them take no --config', async () => {
    const namesIn = ({ stdout }: Ran): string[] =>
      [...stdout.slice(stdout.indexOf('Commands:')).matchAll(/^ {2}([a-z]+) /gm)]
        .map(([, name]) => name!)
        .filter((name) => name !== 'help');
    const page = await readFile('docs/cli.md', 'utf8');
    const without: string[] = [];
    for (const name of namesIn(await commandLine(['--help']))) {
      const row = page
        .split('\n')
        .filter((line) => new RegExp(`^\\| .*\`${name}[ \`].* \\| `).test(line))
        .join('\n');
      expect(row, name).not.toBe('');
      const { stdout } = await commandLine([name, '--help']);
      const inner = stdout.includes('Commands:') ? namesIn({ stdout } as Ran) : [];
      for (const each of inner) expect(row).toMatch(new RegExp(`[ \`]${each}\``));
      for (const words of inner.length > 0 ? inner.map((each) => [name, each]) : [[name]]) {
        const help = await commandLine([...words, '--help']);
        if (!help.stdout.includes('--config')) without.push(words.join(' '));
        expect(help.stdout, words.join(' ')).toContain('--json');
      }
    }
    expect(without).toEqual(['config approve']);
    expect((await commandLine(['export', '--help'])).stdout).toMatch(/--format <format>\s+required:/);
  });

  it('CLI-2 without a command it shows its help and ends with 64; with --help and --version with 0', async () => {
    expect(await commandLine([])).toMatchObject({
      code: 64,
      stdout: expect.stringContaining('Usage: toolscout') as string,
    });
    expect(await commandLine(['--help'])).toMatchObject({ code: 0 });
    expect(await commandLine(['--version'])).toMatchObject({ code: 0, stdout: '9.9.9\n' });
    const help = await commandLine(['search', '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/Example:\n {2}\$ toolscout search/);
  });

  it.each([
    [['help', 'nope'], 'nope'],
    [['nope', '--help'], 'nope'],
    [['help', 'serach'], 'serach'],
    [['help', 'cache', 'melt'], 'melt'],
    [['cache', 'help', 'melt'], 'melt'],
    [['cache', 'melt', '-h'], 'melt'],
  ])('CLI-2 help on what is no command says so: %j', async (args, wrong) => {
    const ran = await commandLine(args);
    expect(ran).toMatchObject({ code: 64, stdout: '' });
    expect(ran.stderr).toContain(`unknown command '${wrong}'`);
    expect(ran.stderr).toMatch(/--help/);
  });

  it('CLI-1 help on a command is its help, however it is asked for', async () => {
    const whole = (await commandLine(['--help'])).stdout;
    expect(await commandLine(['help'])).toMatchObject({ code: 0, stdout: whole });
    const search = (await commandLine(['search', '--help'])).stdout;
    expect(await commandLine(['help', 'search'])).toMatchObject({ code: 0, stdout: search, stderr: '' });
    expect((await commandLine(['search', 'help', '--help'])).stdout).toBe(search);
    const clear = (await commandLine(['cache', 'clear', '--help'])).stdout;
    expect(clear).toMatch(/^Usage: toolscout cache clear/);
    expect((await commandLine(['help', 'cache', 'clear'])).stdout).toBe(clear);
    expect((await commandLine(['cache', 'help', 'clear'])).stdout).toBe(clear);
    expect((await commandLine(['help', 'serve'])).stdout).toMatch(/^Usage: toolscout serve/);
  });

  it('EXEC-5 CLI-1 a kind of record that there is can be asked for', async () => {
    expect((await run(await notes(), 'audit', '--kind', 'usage-forgotten')).code).toBe(0);
    const wrong = await run(await notes(), 'audit', '--kind', 'cache-claer');
    expect(wrong.stderr).toContain('cache-clear');
  });

  it.each([
    ['serach', 'x'],
    ['search'],
    ['search', 'x', '--limit', 'many'],
    ['search', 'x', '--limit', '0'],
    ['search', 'x', '--no-such-flag'],
    ['serve', '--port', '70000'],
    ['call'],
    ['call', 'nowhere'],
    ['inspect', 'nowhere'],
    ['why', 'nowhere'],
    ['config'],
    ['cache', 'melt'],
  ])('CLI-2 a command line that makes no sense ends with 64: %s %s %s %s', async (...args) => {
    const ran = await commandLine(args.filter((arg) => typeof arg === 'string'));
    expect(ran.code).toBe(64);
    expect(ran.stderr + ran.stdout).not.toBe('');
    expect(ran.opened).toEqual([]);
  });

  it.each([
    ['call', 'notes', 'read_note', '--timeout', 'soon'],
    ['call', 'notes', 'read_note', '--timeout', '-5'],
    ['audit', '--limit', 'many'],
    ['audit', '--outcome', 'succes'],
    ['audit', '--kind', 'cache-claer'],
  ])('CLI-2 a flag with a value that cannot be meant is a usage error: %s %s %s %s', async (...args) => {
    const gateway = await notes();
    const ran = await run(gateway, ...args.filter((arg) => typeof arg === 'string'));
    expect(ran.code).toBe(64);
  });

  it('CLI-2 EXEC-3 every code ends with the exit code of the table, its message and what to do', async () => {
    for (const code of Object.keys(ERROR_TABLE) as ErrorCode[]) {
      const failing = async (): Promise<Gateway> => {
        throw new ToolscoutError(code, 'It went wrong.', { problems: [{ path: '/a', message: 'is wrong' }] });
      };
      const ran = await commandLine(['servers', '--json'], { gateway: failing });
      expect(ran.code).toBe(ERROR_TABLE[code].exit);
      expect(json(ran)).toEqual({
        error: {
          code,
          message: 'It went wrong.',
          suggestion: ERROR_TABLE[code].suggestion,
          severity: ERROR_TABLE[code].severity,
          problems: [{ path: '/a', message: 'is wrong' }],
        },
      });
      const { suggestion } = ERROR_TABLE[code];
      expect(ran.stderr).toBe(`${code}: It went wrong.\n${suggestion === '' ? '' : `${suggestion}\n`}`);
    }
  });

  it('CLI-2 serve for one server without --stdio says where that is found over HTTP, and serves nothing', async () => {
    const ran = await commandLine(['serve', '--server', 'memory']);
    expect(ran).toMatchObject({ code: 64, stdout: '', served: [] });
    expect(ran.stderr).toContain('--server needs --stdio');
    expect(ran.stderr).toContain('/servers/memory/mcp');
    const asJson = await commandLine(['serve', '--server', 'memory', '--json']);
    expect(json(asJson)).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
  });

  it('CLI-2 an unexpected error ends with 1, as an internal error', async () => {
    const ran = await commandLine(['servers'], {
      gateway: async () => {
        throw new TypeError('x is not a function');
      },
    });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('INTERNAL_ERROR: x is not a function');
  });

  it('CLI-1 the common flags reach the gateway, which is closed whatever happens', async () => {
    const gateway = await notes();
    const closed: unknown[] = [];
    const watched: Gateway = { ...gateway, close: (how) => (closed.push(how), gateway.close(how)) };
    const flags = ['--config', 'a.json', '--state-dir', '/state', '--demo', '--verbose'];
    const ran = await run(watched, 'tools', 'nobody', ...flags);
    expect(ran.code).toBe(2);
    expect(ran.opened).toEqual([
      { config: 'a.json', stateDir: '/state', demo: true, logLevel: 'debug', learnAtStart: false },
    ]);
    expect(closed).toEqual([{ drainMs: 0, graceMs: 300 }]);
    const quiet = await run(await notes(), 'servers');
    expect(quiet.opened[0]).toMatchObject({ logLevel: 'silent', learnAtStart: false });
  });

  it('CLI-1 serve hands its flags on; it learns, watches and logs warnings', async () => {
    const plain = await commandLine(['serve']);
    expect(plain).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(plain.served).toMatchObject([{ stdio: false, learnAtStart: true, watch: true, logLevel: 'info' }]);
    const full = await commandLine(['serve', '--stdio', '--host', '::1', '-p', '0', '-c', 'x.yaml', '-v']);
    expect(full.served).toMatchObject([{ stdio: true, host: '::1', port: 0, config: 'x.yaml', logLevel: 'debug' }]);
    const failed = await commandLine(['serve'], {
      serve: async () => {
        throw new ToolscoutError('CONFIGURATION_ERROR', 'Port 7077 on 127.0.0.1 is taken by another program.');
      },
    });
    expect(failed.code).toBe(2);
  });
});

describe('toolscout servers', STARTS_PROCESSES, () => {
  it('CLI-1 lists what is configured, as a table and as JSON', async () => {
    const text = await run(await notes(), 'servers');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout.split('\n')[0]).toMatch(/^SERVER +STATUS +TOOLS +LEARNED +TRANSPORT +TARGET$/);
    expect(text.stdout.split('\n')[1]).toMatch(/^notes +ready +2 +just now +stdio +never-started notes$/);
    const machine = await run(await notes(), 'servers', '--json');
    expect(json(machine)).toMatchObject({ servers: [{ id: 'notes', knowledge: 'ready', tools: 2, disabledTools: 1 }] });
  });

  it('CLI-1 servers: says what to do when no server is configured, and why one is off', async () => {
    const none = await run((await openOfflineGateway([])).gateway, 'servers');
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toContain('No server is configured');
    const gateway = await openToolscout({ servers: { off: { command: 'x', enabled: false }, cold: { command: 'x' } } });
    const { stdout, stderr } = await run(gateway, 'servers');
    expect(stdout).toMatch(/^off +off +0 +never +stdio +x$/m);
    expect(stderr).toMatch(/^off: disabled in the configuration$/m);
    expect(stdout).toMatch(/^cold +unknown +0 +never +stdio +x$/m);
  });
});

describe('toolscout search', STARTS_PROCESSES, () => {
  it('FIND-1 CLI-1 shows hits with their relevance; JSON has the whole answer', async () => {
    const text = await run(await notes(), 'search', 'read', 'a', 'note');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout.split('\n')[1]).toMatch(/^[01]\.\d\d +notes:read_note +Reads a note\.?$/);
    const machine = await run(await notes(), 'search', 'read a note', '--json', '--limit', '1', '--schema');
    expect(json(machine)).toMatchObject({
      hits: [
        { server: 'notes', tool: 'read_note', tags: ['safe'], signature: expect.stringContaining('id') as string },
      ],
      nearest: [],
      learning: [],
      unavailable: [],
    });
    const schema = await run(await notes(), 'search', 'read a note', '--schema', '-n', '1');
    expect(schema.stdout).toMatch(/CALL\n.*read_note.*id/);
  });

  it('FIND-7 CLI-1 shows the hits of several needs apart, each under its need', async () => {
    const { gateway } = await openOfflineGateway([
      {
        id: 'notes',
        tools: [
          { name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } },
          { name: 'delete_note', description: 'Deletes a note.', inputSchema: { type: 'object' } },
        ],
      },
    ]);
    const query = 'read a note from the book and delete the old note';
    const text = await run(gateway, 'search', query);
    expect(text.stdout).toMatch(/read a note from the book\n.*TOOL.*\n.*notes:read_note/);
    expect(text.stdout).toMatch(/delete the old note\n.*TOOL.*\n.*notes:delete_note/);
  });

  it('FIND-1 CLI-1 explains each place by words, fields and signals when asked to', async () => {
    const ran = await run(await notes(), 'search', 'read a note', '--explain', '-n', '1');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/\nnotes:read_note {2}[01]\.\d{3} = words \d\.\d{3}/);
    expect(ran.stdout).toMatch(/read \d+% \(name/);
    const machine = await run(await notes(), 'search', 'read a note', '--explain', '--json');
    expect((json(machine) as SearchAnswer).hits[0]!.explanation?.signals[0]).toMatchObject({ name: 'words' });
    const plain = await run(await notes(), 'search', 'read a note', '--json');
    expect((json(plain) as SearchAnswer).hits[0]).not.toHaveProperty('explanation');
  });

  it('FIND-1 CLI-1 narrows by server, tag and status', async () => {
    const tagged = await run(await notes(), 'search', 'note', '--tag', 'safe', '--json');
    expect(json(tagged)).toMatchObject({ hits: [{ tool: 'read_note' }] });
    const hidden = await run(await notes(), 'search', 'delete note', '--json');
    expect(hidden.stdout).not.toContain('delete_note"');
    const all = await run(await notes(), 'search', 'delete note', '--include-disabled', '--json', '--server', 'notes');
    expect((json(all) as SearchAnswer).hits[0]).toMatchObject({ tool: 'delete_note' });
    expect(await run(await notes(), 'search', 'x', '--server', 'note')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"notes"') as string,
    });
  });

  it('FIND-1 CLI-1 a tag takes one word, so that the query may stand behind it; several are given one by one', async () => {
    const behind = await run(await notes(), 'search', '-t', 'safe', 'note', '--json');
    expect(behind.code).toBe(0);
    expect((json(behind) as SearchAnswer).hits.map(({ tool }) => tool)).toEqual(['read_note']);
    const asked: unknown[] = [];
    const gateway = await notes();
    const watched: Gateway = {
      ...gateway,
      search: (query, options) => (asked.push([query, options?.tags]), gateway.search(query, options)),
    };
    await run(watched, 'search', '--tag', 'safe', '--tag', 'small', 'read', 'it');
    expect(asked).toEqual([['read it', ['safe', 'small']]]);
  });

  it('FIND-5 CLI-2 nothing found ends with 2 and names what is near, what is still learned and what is missing', async () => {
    const ran = await run(await notes(), 'search', 'raed_noet');
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('No tool was found.');
    expect(ran.stderr).not.toContain('Try other words');
    expect((await run(await notes(), 'search', 'zzzzqqqq')).stderr).toContain(
      'No tool was found.\nTry other words: action + object + product.',
    );
    expect(ran.stderr).toContain('Nearest names: notes:read_note');
    const gateway = await openToolscout({ servers: { absent: { command: '/no/such/program' } } });
    const missing = await run(gateway, 'search', 'anything');
    expect(missing.code).toBe(2);
    expect(missing.stderr).toMatch(/Not included: absent: .*no\/such\/program/);
    const base = await notes();
    const learning: Gateway = {
      ...base,
      search: async () => ({ hits: [], nearest: [], learning: ['slow'], unavailable: [] }),
    };
    expect((await run(learning, 'search', 'x')).stderr).toContain(
      'Not searched, their tools are still being read: slow.',
    );
    expect(json(await run(await notes(), 'search', 'zzzzqqqq', '--json'))).toMatchObject({ hits: [] });
  });

  it('CONN-2 CLI-1 learns what was never seen, and shows how far it is on a terminal only', async () => {
    const servers = { old: fixture('legacy'), other: fixture('many') };
    const live = await commandLine(['search', 'add two numbers'], {
      gateway: await openToolscout({ servers, limits: { searchWaitMs: 30_000 } }),
      tty: true,
    });
    expect(live.code).toBe(0);
    expect(live.stdout).toContain('old:add');
    expect(live.stderr).toContain('learned 2 of 2 servers');
    const piped = await commandLine(['search', 'add two numbers'], {
      gateway: await openToolscout({ servers, limits: { searchWaitMs: 30_000 } }),
    });
    expect(piped).toMatchObject({ code: 0, stderr: '' });
  });

  const EVIL = `evil${ESC}[2J\u202e\u009b31m`;
  const answering = async (answer: Partial<SearchAnswer>, ...flags: string[]): Promise<Ran> => {
    const searchTools = async (): Promise<SearchAnswer> => ({
      hits: [],
      nearest: [],
      learning: [],
      unavailable: [],
      ...answer,
    });
    return run({ ...(await notes()), search: searchTools }, 'search', 'x', ...flags);
  };
  const hits = [{ server: 'notes', tool: EVIL, summary: EVIL, relevance: 1, tags: [EVIL], signature: EVIL }];

  it('A16 hits and the reasons of missing servers are escaped', async () => {
    const ran = await answering({ hits, unavailable: [{ server: 'notes', reason: EVIL }] });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('evil');
    expect(ran.stdout).toMatch(HARMLESS);
    expect(ran.stderr).toMatch(HARMLESS);
  });

  it('A16 the nearest names are names that servers chose, and are escaped', async () => {
    expect((await answering({ nearest: [`notes:${EVIL}`] })).stderr).toMatch(HARMLESS);
  });

  it('A16 JSON on a terminal is text on a terminal: what it would obey is escaped there too', async () => {
    const ran = await answering({ hits }, '--json');
    expect(json(ran)).toMatchObject({ hits: [{ tool: EVIL }] });
    expect(ran.stdout).toMatch(HARMLESS);
  });
});

describe('toolscout tools, inspect and why', STARTS_PROCESSES, () => {
  it('CLI-1 PAT-5 tools lists what is offered; with --include-disabled also what is not, and the rule', async () => {
    const text = await run(await notes(), 'tools', 'notes');
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/^TOOL +SUMMARY\n/);
    expect(text.stdout).not.toContain('delete_note');
    const all = await run(await notes(), 'tools', 'notes', '--include-disabled');
    expect(all.stdout).toMatch(/^delete_note +disabled by rule 1 \(pattern/m);
    const machine = json(await run(await notes(), 'tools', 'notes', '--include-disabled', '--json'));
    expect(machine).toMatchObject({
      server: 'notes',
      tools: [
        { tool: 'delete_note', status: 'disabled', reason: expect.stringContaining('rule 1 (pattern') as string },
        { tool: 'disguised', status: 'enabled' },
        { tool: 'read_note', tags: ['safe'] },
      ],
    });
    expect((await run(await notes(), 'tools', 'note')).code).toBe(2);
    const allowing = { toolRules: [{ pattern: 'read_*', enabled: true }] };
    const listed = await run(await notes(allowing), 'tools', 'notes', '--include-disabled');
    expect(listed.stdout).toMatch(/^delete_note +disabled: no rule enables it, /m);
  });

  it('CLI-1 inspect shows a tool with its parameters; --json its whole definition', async () => {
    const text = await run(await notes(), 'inspect', 'notes', 'read_note');
    expect(text.code).toBe(0);
    expect(text.stdout).toContain('notes:read_note\nReads a note.');
    expect(text.stdout).toContain('id: integer required  Which note.');
    expect(text.stdout).toContain('(short, full)');
    const machine = json(await run(await notes(), 'inspect', 'notes:read_note', '--json'));
    expect(machine).toMatchObject({
      server: 'notes',
      tool: 'read_note',
      status: 'enabled',
      tags: ['safe'],
      definition: TOOLS[0],
    });
    const bare = await run(await notes({ toolRules: [] }), 'inspect', 'notes:delete_note');
    expect(bare.stdout).not.toContain('Parameters');
    expect((await run(await notes(), 'inspect', 'notes', 'raed_note')).stderr).toContain('"read_note"');
    expect((await run(await notes(), 'inspect', 'notes', 'delete_note')).code).toBe(4);
  });

  it.each([
    ['inspect', 'notes', 'disguised'],
    ['tools', 'notes'],
    ['inspect', 'notes', 'disguised', '--json'],
    ['tools', 'notes', '--json'],
  ])('A16 what a server wrote is escaped: %s %s', async (...args) => {
    const ran = await run(await notes(), ...args.filter((arg) => typeof arg === 'string'));
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(HARMLESS);
  });

  it('FIND-5 CLI-2 why says one sentence: 0 when offered, 4 when a rule decided, 2 when there is no such thing', async () => {
    expect(await run(await notes(), 'why', 'notes:read_note')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^"notes:read_note" is offered .*\n$/) as string,
    });
    expect(await run(await notes(), 'why', 'notes', 'delete_note')).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('rule 1 (pattern') as string,
    });
    expect((await run(await notes(), 'why', 'notes:raed_note')).code).toBe(2);
    const machine = await run(await notes(), 'why', 'nobody:x', '--json');
    expect(machine.code).toBe(2);
    expect(json(machine)).toMatchObject({ offered: false, because: 'server' });
    const cold = await openToolscout({ servers: { old: fixture('legacy') } });
    expect(await run(cold, 'why', 'old:echo')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('was learned just now') as string,
    });
  });
});

describe('toolscout call', STARTS_PROCESSES, () => {
  const legacy = (): Promise<Gateway> => openToolscout({ servers: { old: fixture('legacy') } });

  it('CLI-1 EXEC-1 arguments by name, typed by the schema; text and JSON output', async () => {
    expect(await run(await legacy(), 'call', 'old', 'add', 'a=2', 'b=3')).toMatchObject({
      code: 0,
      stdout: '5\n',
      stderr: '',
    });
    expect(await run(await legacy(), 'call', 'old:add', 'a=2', 'b:=3')).toMatchObject({ code: 0, stdout: '5\n' });
    const machine = await run(await legacy(), 'call', 'old:echo', 'message=5', '--json');
    expect(json(machine)).toEqual({ success: true, result: { content: [{ type: 'text', text: '5' }] } });
  });

  it('CLI-1 EXEC-1 arguments as JSON, from a file and from stdin; single ones win over the whole', async () => {
    const file = join(await temporaryDirectory(), 'args.json');
    await writeFile(file, '{"a": 20, "b": 22}');
    expect((await run(await legacy(), 'call', 'old', 'add', '--args', '{"a":1,"b":2}')).stdout).toBe('3\n');
    expect((await run(await legacy(), 'call', 'old', 'add', '--args', `@${file}`)).stdout).toBe('42\n');
    expect((await run(await legacy(), 'call', 'old', 'add', 'b=1', '-a', `@${file}`)).stdout).toBe('21\n');
    const piped = await commandLine(['call', 'old:add', '--args', '-'], {
      gateway: await legacy(),
      stdin: '{"a":4,"b":5}',
    });
    expect(piped.stdout).toBe('9\n');
  });

  it('CLI-2 arguments that are no JSON, no object or no file are named, and nothing is called', async () => {
    const notJson = await run(await legacy(), 'call', 'old', 'add', '--args', '{oops');
    expect(notJson).toMatchObject({ code: 64, stderr: expect.stringContaining('--args is not JSON') as string });
    const list = await run(await legacy(), 'call', 'old', 'add', '--args', '[1]');
    expect(list).toMatchObject({ code: 64, stderr: expect.stringContaining('must be a JSON object') as string });
    expect((await run(await legacy(), 'call', 'old', 'add', 'a')).code).toBe(64);
  });

  it('CLI-2 a word behind server:tool that is no argument is named, and the server is not blamed', async () => {
    const ran = await run(await legacy(), 'call', 'old:echo', 'message');
    expect(ran).toMatchObject({ code: 64, stdout: '' });
    expect(ran.stderr).toContain('"message" is not an argument; write name=value');
    expect((await run(await legacy(), 'inspect', 'old:echo', 'message')).code).toBe(64);
  });

  it('CLI-1 reports a mistyped argument before the server answers, and sends it as the schema allows', async () => {
    const missing = await run(await legacy(), 'call', 'old:echo', 'mesage=hi');
    expect(missing.code).toBe(3);
    expect(missing.stderr).toMatch(/^Warning: the tool has no parameter "mesage".* Did you mean "message"\?\n/);
    const whole = await run(await legacy(), 'call', 'old:echo', '--args', '{"message":"hi","mesage":1}', '--json');
    expect(whole.stderr).toBe(
      'Warning: the tool has no parameter "mesage"; it is sent all the same. Did you mean "message"?\n',
    );
    expect(json(whole)).toMatchObject({ success: true });
  });

  it('CLI-2 a number too large for JSON in --args is refused, and nothing is called', async () => {
    const ran = await run(await legacy(), 'call', 'old', 'add', '--args', '{"a":1e400,"b":1}');
    expect(ran).toMatchObject({ code: 64, stderr: expect.stringContaining('too large') as string });
  });

  it('CLI-2 a file of arguments that is not there is a mistake of the caller, not a bug', async () => {
    const ran = await run(await legacy(), 'call', 'old', 'add', '--args', '@/no/such/file');
    expect(ran.stderr).toContain('/no/such/file');
    expect(ran.code).toBe(64);
    expect(ran.stderr).not.toContain('bug in toolscout');
  });

  it('CLI-2 EXEC-3 exit codes: 2 unknown, 3 failed or invalid, 4 refused', async () => {
    const invalid = await run(await legacy(), 'call', 'old', 'add', 'a=x', 'b=1');
    expect(invalid.code).toBe(3);
    expect(invalid.stdout).toBe('');
    expect(invalid.stderr).toContain('TOOL_VALIDATION_ERROR');
    expect(invalid.stderr).toMatch(
      /are not valid: a must be number, not string\..*\nFix .* toolscout inspect old:add shows/,
    );
    const failed = await run(await legacy(), 'call', 'old', 'fail', 'message=out of paper');
    expect(failed).toMatchObject({ code: 3, stdout: 'out of paper\n' });
    expect((await run(await legacy(), 'call', 'old', 'ecko')).code).toBe(2);
    expect((await run(await legacy(), 'call', 'odl', 'echo', 'message=x')).code).toBe(2);
    const refused = await run(await notes(), 'call', 'notes', 'delete_note', '--json');
    expect(refused.code).toBe(4);
    expect(json(refused)).toMatchObject({
      success: false,
      error: { code: 'TOOL_DISABLED', server: 'notes', tool: 'delete_note' },
    });
  });

  it('EXEC-1 --timeout ends a call that takes too long; progress is a status line', async () => {
    const slow = { servers: { slow: fixture('slow') } };
    const late = await run(
      await openToolscout(slow),
      'call',
      'slow',
      'wait',
      'ms=9000',
      'progress=false',
      '--timeout',
      '150',
    );
    expect(late).toMatchObject({ code: 3, stderr: expect.stringContaining('TOOL_EXECUTION_TIMEOUT') as string });
    const live = await commandLine(['call', 'slow', 'wait', 'ms=200', 'steps=2'], {
      gateway: await openToolscout(slow),
      tty: true,
    });
    expect(live.code).toBe(0);
    expect(live.stderr).toContain('1/2 step 1');
    expect(live.stderr.endsWith(`\r${ESC}[K`)).toBe(true);
  });

  const EVIL = `evil${ESC}[2J\r\u202e`;
  const FAILURE = {
    code: 'TOOL_EXECUTION_ERROR' as const,
    message: 'It failed.',
    server: 'notes',
    tool: 'read_note',
    remedy: { kind: 'advice', text: 'Try again.' } as const,
    suggestion: 'Try again.',
    severity: 'WARNING' as const,
  };
  const FAILED = { success: false, error: FAILURE };

  it.each<[string, CallResult]>([
    ['result', { success: true, result: { content: [{ type: 'text', text: EVIL }] } }],
    ['message', { ...FAILED, error: { ...FAILURE, message: EVIL } }],
    ['problem', { ...FAILED, error: { ...FAILURE, problems: [{ path: '/a', message: EVIL }] } }],
    ['path of a problem', { ...FAILED, error: { ...FAILURE, problems: [{ path: EVIL, message: 'is wrong' }] } }],
    ['suggestion', { ...FAILED, error: { ...FAILURE, suggestion: EVIL } }],
  ])('A16 A18 the %s that a server sends is escaped before a terminal sees it', async (_, answer) => {
    const ran = await run({ ...(await notes()), call: async () => answer }, 'call', 'notes', 'read_note');
    expect(ran.stdout + ran.stderr).toContain('evil');
    expect(ran.stdout + ran.stderr).toMatch(HARMLESS);
  });
});

describe('toolscout discover and warm', STARTS_PROCESSES, () => {
  const mixed = (): Promise<Gateway> =>
    openToolscout({
      servers: {
        bad: fixture('malformed'),
        endless: { ...fixture('endless'), rateLimit: { requestsPerSecond: 100_000, burstSize: 100_000 } },
        absent: { command: '/no/such/program' },
      },
    });

  it('DISC-3 CLI-1 discover says per server what happened; one failure ends with 1', async () => {
    const text = await run(await mixed(), 'discover');
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/^✓ bad: \d+ tools, \d+ malformed dropped$/m);
    expect(text.stdout).toMatch(/^ {4}entry \d+ big: /m);
    expect(text.stdout).toMatch(/^✓ endless: \d+ tools$/m);
    expect(text.stdout).toMatch(/^✗ absent: .*no\/such\/program/m);
    expect(text.stdout).toMatch(HARMLESS);
    const machine = json(await run(await mixed(), 'discover', '--json'));
    expect(machine).toMatchObject({
      servers: [
        { server: 'bad', ok: true, dropped: expect.any(Array) as unknown[] },
        { server: 'endless', ok: true, truncated: expect.any(String) as string },
        { server: 'absent', ok: false, code: 'SERVER_CONNECTION_ERROR', error: expect.any(String) as string },
      ],
    });
    const one = await run(await mixed(), 'discover', 'bad', '--json');
    expect(one.code).toBe(0);
    expect((await run(await mixed(), 'discover', 'bda')).stderr).toContain('"bad"');
  });

  it('DISC-5 CLI-1 warm learns what is unknown, or all with --all, and reports in numbers', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy'), one: fixture('many') } });
    const kept: Gateway = { ...gateway, close: async () => undefined };
    expect(json(await run(kept, 'warm', '--json'))).toEqual({ successful: 2, failed: 0, cachedTools: 10, errors: [] });
    expect(json(await run(kept, 'warm', '--json'))).toMatchObject({ successful: 0 });
    expect(await run(kept, 'warm', '--all')).toMatchObject({
      code: 0,
      stdout: '2 servers learned, 10 tools; 0 failed\n',
    });
    const failing = await run(await openToolscout({ servers: { absent: { command: '/no/such/program' } } }), 'warm');
    expect(failing.code).toBe(1);
    expect(failing.stdout).toMatch(/^0 servers learned, 0 tools; 1 failed\n {2}absent: /);
  });

  it('DISC-3 A16 progress is shown on a terminal, never in a pipe', async () => {
    const live = await commandLine(['discover'], { gateway: await mixed(), tty: true, noColor: true });
    expect(live.stderr).toContain('learning ');
    expect(live.stdout).not.toContain(`${ESC}[3`);
    const piped = await commandLine(['discover'], { gateway: await mixed() });
    expect(piped.stderr).toBe('');
  });
});

describe('toolscout config, cache, audit and doctor', STARTS_PROCESSES, () => {
  it.each([
    ['servers', '--state-dir', ''],
    ['servers', '--state-dir', '  '],
    ['servers', '-c', ''],
    ['config', 'validate', '--config', ''],
    ['config', 'show', '--config='],
    ['serve', '--state-dir', ''],
    ['serve', '--config', ''],
    ['import', '--config', ''],
    ['install', 'cursor', '--config', ''],
  ])('CLI-2 STORE-2 %s %s %s with nothing behind the flag is a mistake, not the default', async (...args) => {
    const ran = await commandLine(args);
    expect(ran).toMatchObject({ code: 64, stdout: '', opened: [], served: [] });
    expect(ran.stderr).toContain('must not be empty');
  });

  it('CFG-3 config validate reports every problem and warning, and ends with 2 when there is a problem', async () => {
    const checkConfig = async ({ config }: { config?: string }) => ({
      source: config ?? 'toolscout.config.json',
      problems: [{ path: 'toolRules[2].patern', message: `unknown key${ESC}[2J; did you mean "pattern"?` }],
      warnings: [{ path: 'toolRules[1]', message: 'can never decide' }],
    });
    const text = await commandLine(['config', 'validate'], { checkConfig });
    expect(text).toMatchObject({ code: 2, opened: [] });
    expect(text.stdout).toContain('error   toolRules[2].patern: unknown key');
    expect(text.stdout).toContain('warning toolRules[1]: can never decide');
    expect(text.stdout).toMatch(HARMLESS);
    const machine = await commandLine(['config', 'validate', '--json', '-c', 'x.json'], { checkConfig });
    expect(machine.code).toBe(2);
    expect(json(machine)).toMatchObject({ source: 'x.json', valid: false, problems: [{}], warnings: [{}] });
    const good = await commandLine(['config', 'validate']);
    expect(good).toMatchObject({ code: 0, stdout: '✓ none is valid\n' });
  });

  it('CFG-4 A33 config show shows what is in force and no value of a variable or header', async () => {
    const config = {
      servers: {
        web: {
          url: 'https://user:${PASSWORD}@example.org/mcp?key=${KEY}',
          headers: { Authorization: 'Bearer ${TOKEN}' },
        },
        local: { command: 'x', args: ['--token', 'plain-secret-123'], env: { API_KEY: 'plain-secret-456' } },
      },
    };
    const env = { PASSWORD: 'canary-password', KEY: 'canary-key-1', TOKEN: 'canary-token' };
    const gateway = await openToolscout(config, { env });
    for (const flags of [[], ['--json']]) {
      const ran = await commandLine(['config', 'show', ...flags], {
        readConfig: async () => gateway.internal.loaded(),
      });
      // Nothing is opened for it, so nothing is made either.
      expect(ran.opened).toEqual([]);
      expect(ran.code).toBe(0);
      expect(ran.stdout).not.toMatch(/canary|plain-secret/);
      expect(json(ran)).toMatchObject({
        source: 'library',
        servers: [
          { id: 'web', type: 'http' },
          { id: 'local', type: 'stdio', secrets: ['API_KEY'] },
        ],
        limits: { callTimeoutMs: 30_000 },
      });
    }
  });

  it('SEC-9 CLI-1 config show does not call a server enabled that waits for an approval', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: { command: 'x' } } }));
    const config: ConfigInput = { sources: [{ type: 'claude-code', scope: 'project' }] };
    const gateway = await openToolscout(config, { cwd });
    expect(gateway.internal.loaded().servers).toMatchObject([{ id: 'theirs', scope: 'project' }]);
    const shown = async (): Promise<unknown> =>
      json(
        await commandLine(['config', 'show', '--json'], { gateway, readConfig: async () => gateway.internal.loaded() }),
      );
    const problem = expect.stringMatching(/approv/) as string;
    expect(await shown()).toMatchObject({ servers: [{ id: 'theirs', enabled: false, problem }] });
  });

  it('DISC-4 CLI-1 cache stats and clear', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const kept: Gateway = { ...gateway, close: async () => undefined };
    await gateway.servers.discover();
    expect((await run(kept, 'cache', 'stats')).stdout).toMatch(
      /^1 list cached\. Reads by this command: \d+ hits?, (1 miss|\d+ misses)\.\n/,
    );
    expect(json(await run(kept, 'cache', 'stats', '--json'))).toMatchObject({ entries: 1 });
    expect(json(await run(kept, 'cache', 'clear', 'old', '--json'))).toEqual({ cleared: 1 });
    expect(await run(kept, 'cache', 'clear')).toMatchObject({ code: 0, stdout: '0 lists forgotten\n' });
    expect((await run(kept, 'cache', 'clear', 'odl')).code).toBe(2);
  });

  it('EXEC-5 CLI-1 audit shows records newest first, filters, and says when there are no records', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const kept: Gateway = { ...gateway, close: async () => undefined };
    const empty = await run(kept, 'audit');
    expect(empty).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing is recorded yet.\n' });
    await gateway.call('old', 'echo', { message: `hi${ESC}[2J` });
    await gateway.call('old', 'fail', {});
    expect(await run(kept, 'audit', '--server', 'other')).toMatchObject({ code: 0, stderr: 'No record matches.\n' });
    const text = await run(kept, 'audit', '--kind', 'execution');
    expect(text.stdout).toMatch(HARMLESS);
    expect(text.stdout.split('\n')[0]).toMatch(
      /^\d{4}-.*Z local execution old:fail failure TOOL_EXECUTION_ERROR [\d.]+ ms \{\} it failed$/,
    );
    expect(text.stdout.split('\n')[1]).toMatch(/old:echo success [\d.]+ ms \{"message":"hi/);
    const machine = await run(
      kept,
      'audit',
      '--json',
      '--server',
      'old',
      '--tool',
      'echo',
      '--outcome',
      'success',
      '-n',
      '5',
    );
    expect(json(machine)).toMatchObject({ records: [{ tool: 'echo', outcome: 'success' }] });
    expect((json(await run(kept, 'audit', '--json', '-n', '1')) as { records: unknown[] }).records).toHaveLength(1);
  });

  it('EXEC-5 CLI-1 audit tells how much of a duration was waiting for an answer', async () => {
    const { gateway } = await openOfflineGateway([]);
    const about = { id: 'r', time: 0, kind: 'execution', principal: 'ann', outcome: 'success' } as const;
    const list = async () => [{ ...about, latencyMs: 31_000, askedMs: 30_000 }];
    const { stdout } = await run({ ...gateway, audit: { ...gateway.audit, list } }, 'audit');
    expect(stdout).toContain(' success 31000.0 ms (30000.0 ms of it waiting for a person or the host)');
  });

  it('EXEC-5 SEC-11 audit tells what was decided about a call that needs a confirmation', async () => {
    const { gateway } = await openOfflineGateway([]);
    const about = { id: 'r', time: 0, kind: 'confirm', principal: 'ann', outcome: 'success' } as const;
    const list = async () => [
      { ...about, detail: { decision: 'rejected', via: 'operator', id: 'call_1', reason: `no${ESC}[2J` } },
      { ...about, detail: { decision: 'asked', via: 'operator', id: 'call_1' } },
    ];
    const { stdout } = await run({ ...gateway, audit: { ...gateway.audit, list } }, 'audit');
    expect(stdout).toMatch(HARMLESS);
    expect(stdout).toMatch(/ ann confirm success rejected call_1 no.*\n.* ann confirm success asked call_1\n/);
  });

  it('EXEC-5 CLI-1 audit --follow goes on until it is stopped, oldest first', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const kept: Gateway = { ...gateway, close: async () => undefined };
    await gateway.call('old', 'echo', { message: 'before' });
    const stopped = async (written: () => string): Promise<void> => {
      await gateway.call('old', 'add', { a: 1, b: 2 });
      await expect.poll(written).toContain('"add"');
    };
    const ran = await commandLine(['audit', '--follow', '--json', '--kind', 'execution'], { gateway: kept, stopped });
    const records = ran.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { tool: string }).tool);
    expect(ran.code).toBe(0);
    expect(records).toEqual(['echo', 'add']);
  });

  it('CLI-3 doctor marks what it found, shows stderr and the next step, and ends with 1 when something is wrong', async () => {
    const well = await run(await openToolscout({ servers: { old: fixture('legacy') } }), 'doctor');
    expect(well.code).toBe(0);
    expect(well.stdout).toMatch(/^✓ server old {2}2024-11-05 over stdio/m);
    expect(well.stdout.endsWith('All is well.\n')).toBe(true);
    const script = 'console.error("\\u001b[31mno licence"); process.exit(1)';
    const ill = await run(
      await openToolscout({ servers: { sick: { command: process.execPath, args: ['-e', script] } } }),
      'doctor',
    );
    expect(ill.code).toBe(1);
    expect(ill.stdout).toMatch(HARMLESS);
    expect(ill.stdout).toMatch(/^✗ server sick/m);
    expect(ill.stdout).toMatch(/^ {4}\| .*no licence/m);
    expect(ill.stdout).toMatch(/^ {4}→ run its command by hand/m);
    const machine = await run(await openToolscout({}), 'doctor', '--json');
    expect(json(machine)).toMatchObject({
      ok: true,
      findings: [{ subject: 'config' }, { subject: 'config' }, { subject: 'store' }],
    });
  });

  it('CLI-1 NO_COLOR and pipes get no colour, a terminal does', async () => {
    const live = await commandLine(['servers'], { gateway: await notes(), tty: true });
    expect(live.stdout).toContain(`${ESC}[2m`);
    const plain = await commandLine(['servers'], { gateway: await notes(), tty: true, noColor: true });
    expect(plain.stdout).not.toContain(ESC);
    const piped = await commandLine(['servers'], { gateway: await notes() });
    expect(piped.stdout).not.toContain(ESC);
  });
});
