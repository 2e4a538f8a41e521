import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway/index.js';
import { openGateway } from '../../src/app/open-gateway.js';
import type { AgentBriefingEvent } from '../../src/model/skill.js';
import { commandLine } from '../support/command-line.js';
import { fixture, isAlive, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { connectHost } from '../support/stdio-host.js';
import { openToolscout, startCounter, textOf } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const SCHEMA = fileURLToPath(new URL('../../docs/schemas/agent-briefing-event.json', import.meta.url));

/** A folder with one skill that asks for these capabilities. */
async function skillFolder(
  ...capabilities: string[]
): Promise<{ directory: string; write(...names: string[]): Promise<void> }> {
  const directory = await temporaryDirectory();
  const write = async (...names: string[]): Promise<void> => {
    await mkdir(join(directory, 'fire-watch'), { recursive: true });
    const list = names.map((name) => `- \`${name}\``).join('\n');
    await writeFile(join(directory, 'fire-watch', 'skill.md'), `# Fire watch\n\n## Capabilities\n\n${list}\n`);
  };
  await write(...capabilities);
  return { directory, write };
}

function listen(gateway: Gateway): AgentBriefingEvent[] {
  const heard: AgentBriefingEvent[] = [];
  gateway.onEvent((event) => event.type === 'briefing' && heard.push(event.briefing));
  return heard;
}

const irwin = {
  ...fixture('capable', '--tools=get_incident,delete_incident'),
  capabilities: ['incident:read', 'incident:query'],
};
const earth = { ...fixture('capable', '--tools=compute_dnbr'), capabilities: ['raster:dnbr', 'raster:ndvi'] };
const arcgis = { ...fixture('capable', '--tools=radius_query'), capabilities: ['gis:radius_query'] };

describe('negotiation', STARTS_PROCESSES, () => {
  it('NEG-1 NEG-3 NEG-4 one bound, one missing: DEGRADED with an event that keeps to its schema; a server appears: READY, one event', async () => {
    const root = await temporaryDirectory();
    const { directory } = await skillFolder('gis:radius_query', 'incident:read');
    const entry = (id: string, { command, args, capabilities }: typeof irwin): object => ({
      id,
      transport: 'stdio',
      command,
      args,
      capabilities,
    });
    const servers = [entry('mcp-irwin', irwin), entry('mcp-google-earth-engine', earth)];
    const writeServers = (list: object[]): Promise<void> =>
      writeFile(join(root, 'mcp.json'), JSON.stringify({ version: '1.0', servers: list }));
    await writeServers(servers);
    const config = join(root, 'toolscout.config.json');
    const sources = [{ type: 'ranger-mcp-json', path: join(root, 'mcp.json'), scope: 'user' }];
    await writeFile(config, JSON.stringify({ sources, skills: { directories: [directory] }, store: 'memory' }));
    const gateway = await openGateway({
      config,
      cwd: root,
      env: { PATH: process.env['PATH'], HOME: root },
      stateDir: root,
    });
    try {
      const heard = listen(gateway);
      await waitUntil(() => heard.length > 0, { what: 'the first event', timeoutMs: 20_000 });
      const [degraded] = heard;
      expect(degraded).toMatchObject({
        type: 'SKILL_DEGRADED',
        skill_id: 'fire-watch',
        severity: 'WARNING',
        parent_event_id: null,
        content: { degradation_notice: 'Without: gis:radius_query.' },
        proof_layer: {
          previous_state: null,
          bindings: [{ capability: 'incident:read', server: 'mcp-irwin', origin: 'declared' }],
        },
      });
      const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(
        JSON.parse(await readFile(SCHEMA, 'utf8')),
      );
      expect(validate(degraded), JSON.stringify(validate.errors)).toBe(true);
      expect(await gateway.skills.check('fire-watch')).toMatchObject({
        state: 'DEGRADED',
        missing: [{ capability: 'gis:radius_query' }],
      });

      await writeServers([...servers, entry('mcp-arcgis', arcgis)]);
      await gateway.reload();
      await waitUntil(() => heard.length > 1, { what: 'the second event', timeoutMs: 20_000 });
      await gateway.internal.settle(10_000);
      await waitUntil(
        async () => (await gateway.skills.bind('fire-watch')).bindings.every(({ tools }) => tools !== undefined),
        { timeoutMs: 20_000 },
      );
      const ready = heard[1];
      expect(validate(ready), JSON.stringify(validate.errors)).toBe(true);
      expect(ready).toMatchObject({
        type: 'SKILL_READY',
        severity: 'INFO',
        parent_event_id: degraded!.event_id,
        correlation_id: degraded!.correlation_id,
        content: { degradation_notice: null, suggested_actions: [] },
      });
      expect(heard).toHaveLength(2);
      expect(validate({ ...ready, more: 1 })).toBe(false);
    } finally {
      await gateway.close({ drainMs: 0 });
    }
  });

  it('NEG-2 NEG-4 a skill that changes, goes or comes is noticed; the same file again is not', async () => {
    const { directory, write } = await skillFolder('incident:read');
    const gateway = await openToolscout(
      { servers: { irwin }, skills: { directories: [directory] } },
      { learnAtStart: true, watch: true },
    );
    const heard = listen(gateway);
    await gateway.skills.bind('fire-watch');
    await write('incident:read', 'weather:read');
    await waitUntil(() => heard.length === 1, { what: 'the event about weather:read', timeoutMs: 20_000 });
    await write('incident:read', 'weather:read');
    await write('incident:read');
    await waitUntil(() => heard.length === 2, { what: 'the event about being ready', timeoutMs: 20_000 });
    expect(heard.map(({ type }) => type)).toEqual(['SKILL_DEGRADED', 'SKILL_READY']);
    await rm(join(directory, 'fire-watch'), { recursive: true });
    await waitUntil(async () => (await gateway.skills.list()).length === 0, {
      what: 'the skill to go',
      timeoutMs: 20_000,
    });
    await expect(gateway.skills.get('fire-watch')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });

  it('NEG-4 a server that cannot be started makes its capability unavailable, with the reason; when it recovers the skill is ready', async () => {
    const { directory } = await skillFolder('incident:read');
    const script = join(await temporaryDirectory(), 'server.mjs');
    const command = fixture('capable');
    const servers = { irwin: { command: command.command, args: [script], capabilities: ['incident:read'] } };
    const gateway = await openToolscout({ servers, skills: { directories: [directory] } });
    const heard = listen(gateway);
    const skill = await gateway.skills.bind('fire-watch');
    expect(skill).toMatchObject({ state: 'UNAVAILABLE', impaired: [{ capability: 'incident:read' }], missing: [] });
    await waitUntil(() => heard.length === 1, { what: 'the bad news', timeoutMs: 20_000 });
    expect(heard[0]).toMatchObject({ type: 'SKILL_UNAVAILABLE', severity: 'SEVERE' });
    await gateway.servers.discover();
    await writeFile(script, `await import(${JSON.stringify(pathToFileURL(command.args[0]!).href)});`);
    await gateway.servers.discover();
    await waitUntil(() => heard.length > 1, { what: 'the good news', timeoutMs: 20_000 });
    expect(heard.map(({ type }) => type)).toEqual(['SKILL_UNAVAILABLE', 'SKILL_READY']);
    const handle = await gateway.skills.get('fire-watch');
    expect(await handle.call('incident:read', 'get_incident', {})).toMatchObject({ success: true });
    expect(heard).toHaveLength(2);
  });

  it('NEG-7 an eager server runs from the beginning, also when its tools are known, and ends with toolscout', async () => {
    const starts = await startCounter();
    const stateDir = await temporaryDirectory();
    const servers = { old: { ...fixture('legacy', starts.flag), eager: true } };
    await (await openToolscout({ servers }, { stateDir })).servers.discover();
    expect(await starts.pids()).toHaveLength(1);
    const gateway = await openToolscout({ servers }, { stateDir, learnAtStart: true });
    await gateway.ready();
    await waitUntil(async () => (await starts.pids()).length === 2, { what: 'the eager start', timeoutMs: 20_000 });
    const [, pid] = await starts.pids();
    await gateway.close();
    await waitUntil(() => !isAlive(pid!), { what: 'its end', timeoutMs: 20_000 });
  });
});

/** A server that can be taken away and put back: a script that starts the fixture, or exits. */
async function switchable(...flags: string[]): Promise<{ entry: object; on(): Promise<void>; off(): Promise<void> }> {
  const { command, args } = fixture('capable', ...flags);
  const script = join(await temporaryDirectory(), 'server.mjs');
  const on = (): Promise<void> => writeFile(script, `await import(${JSON.stringify(pathToFileURL(args[0]!).href)});`);
  await on();
  return {
    entry: { command, args: [script, ...args.slice(1)], capabilities: ['incident:read'] },
    on,
    off: () => writeFile(script, 'process.exit(1);'),
  };
}

const stateOf = async (gateway: Gateway, id: string): Promise<string | undefined> =>
  (await gateway.servers.list()).find((each) => each.id === id)?.health.state;

describe('servers that are kept running', STARTS_PROCESSES, () => {
  it('NEG-7 an eager server stays connected when its list was learned at start, and is started again when it dies', async () => {
    const starts = await startCounter();
    const servers = { old: { ...fixture('legacy', starts.flag), eager: true } };
    const states: string[] = [];
    const gateway = await openToolscout({ servers }, { learnAtStart: true });
    gateway.onEvent((event) => event.type === 'state' && states.push(`${event.to} ${event.reason ?? ''}`));
    await waitUntil(async () => (await stateOf(gateway, 'old')) === 'connected', { timeoutMs: 20_000 });
    const pids = await starts.pids();
    const pid = (await gateway.servers.list())[0]!.health.pid!;
    expect(pids).toContain(pid);
    process.kill(pid, 'SIGKILL');
    await waitUntil(async () => (await starts.pids()).length > pids.length, { what: 'a restart', timeoutMs: 20_000 });
    await waitUntil(async () => (await stateOf(gateway, 'old')) === 'connected', { timeoutMs: 20_000 });
    expect(states.filter((state) => state.includes('idle'))).toEqual([]);
    expect(await gateway.call('old', 'echo', { message: 'x' })).toMatchObject({ success: true });
  });

  it('NEG-7 an eager server that does not start is tried again until it does; one added by a reload is started', async () => {
    const root = await temporaryDirectory();
    const late = await switchable();
    const more = await startCounter();
    await late.off();
    const config = join(root, 'toolscout.config.json');
    const write = (servers: object): Promise<void> =>
      writeFile(
        config,
        JSON.stringify({ servers, retryPolicy: { maxRetries: 0, initialDelayMs: 1, maxDelayMs: 50 }, store: 'memory' }),
      );
    const first = { late: { ...late.entry, eager: true } };
    await write(first);
    const gateway = await openGateway({
      config,
      cwd: root,
      env: { PATH: process.env['PATH'], HOME: root },
      stateDir: root,
    });
    try {
      const failures: string[] = [];
      gateway.onEvent((event) => event.type === 'learn-failed' && failures.push(event.server));
      await waitUntil(() => failures.length >= 2, { what: 'two failed attempts', timeoutMs: 20_000 });
      await late.on();
      await waitUntil(async () => (await stateOf(gateway, 'late')) === 'connected', { timeoutMs: 20_000 });
      await write({ ...first, second: { ...fixture('legacy', more.flag), eager: true } });
      await gateway.reload();
      await waitUntil(async () => (await stateOf(gateway, 'second')) === 'connected', { timeoutMs: 20_000 });
      expect(await stateOf(gateway, 'late')).toBe('connected');
    } finally {
      await gateway.close({ drainMs: 0 });
    }
    for (const pid of await more.pids()) await waitUntil(() => !isAlive(pid), { what: 'its end', timeoutMs: 20_000 });
  });

  it('NEG-7 SEC-9 an eager server that waits for approval is not started', async () => {
    const starts = await startCounter();
    const project = await temporaryDirectory();
    const { command, args } = fixture('legacy', starts.flag);
    const list = [{ id: 'theirs', transport: 'stdio', command, args, eager: true }];
    await writeFile(join(project, 'mcp.json'), JSON.stringify({ version: '1.0', servers: list }));
    const other = { ...fixture('capable'), eager: true };
    const gateway = await openToolscout(
      { servers: { other } },
      // Found in the current folder by itself.
      { learnAtStart: true, cwd: project },
    );
    await waitUntil(async () => (await stateOf(gateway, 'other')) === 'connected', { timeoutMs: 20_000 });
    expect(await stateOf(gateway, 'theirs')).toBe('disconnected');
    expect(await starts.pids()).toEqual([]);
    await gateway.approvals.approve('theirs');
    await waitUntil(async () => (await stateOf(gateway, 'theirs')) === 'connected', { timeoutMs: 20_000 });
  });

  it('NEG-4 a bound server that died is tried again until it is back, and READY is announced without a call', async () => {
    const { directory } = await skillFolder('incident:read');
    const irwinAgain = await switchable('--tools=get_incident');
    const gateway = await openToolscout(
      { servers: { irwin: irwinAgain.entry }, skills: { directories: [directory] } },
      { learnAtStart: true },
    );
    const heard = listen(gateway);
    await waitUntil(async () => (await gateway.skills.check('fire-watch')).state === 'READY', { timeoutMs: 20_000 });
    expect(await gateway.call('irwin', 'get_incident', {})).toMatchObject({ success: true });
    await irwinAgain.off();
    process.kill((await gateway.servers.list())[0]!.health.pid!, 'SIGKILL');
    await waitUntil(() => heard.length > 0, { what: 'the bad news', timeoutMs: 20_000 });
    expect(heard.map(({ type }) => type)).toEqual(['SKILL_UNAVAILABLE']);
    await irwinAgain.on();
    await waitUntil(() => heard.length > 1, { what: 'the good news', timeoutMs: 20_000 });
    expect(heard.map(({ type }) => type)).toEqual(['SKILL_UNAVAILABLE', 'SKILL_READY']);
  });

  it('NEG-4 a server that was never learned and offers what is missing by its tools alone is tried again', async () => {
    const { directory } = await skillFolder('incident:get_incident');
    const incident = await switchable('--tools=get_incident');
    await incident.off();
    const { capabilities: _, ...entry } = incident.entry as { capabilities: unknown };
    const gateway = await openToolscout(
      { servers: { incident: entry }, skills: { directories: [directory] } } as never,
      { learnAtStart: true },
    );
    const heard = listen(gateway);
    await waitUntil(() => heard.length > 0, { what: 'the bad news', timeoutMs: 20_000 });
    await incident.on();
    await waitUntil(() => heard.at(-1)?.type === 'SKILL_READY', { what: 'the good news', timeoutMs: 20_000 });
  });
});

describe('what skills check looks at', STARTS_PROCESSES, () => {
  it('NEG-3 a command that does not exist is never READY, known list or not, in every verb', async () => {
    const { directory } = await skillFolder('incident:read');
    const root = await temporaryDirectory();
    const program = join(root, 'irwin-mcp');
    const { command, args } = fixture('capable');
    await writeFile(program, `#!/bin/sh\nexec ${command} ${args[0]} "$@"\n`, { mode: 0o755 });
    const servers = { irwin: { command: program, capabilities: ['incident:read'] } };
    const config = { servers, skills: { directories: [directory] } };
    const stateDir = await temporaryDirectory();
    const first = await openToolscout(config, { stateDir });
    expect(await first.skills.check('fire-watch')).toMatchObject({ state: 'READY' });
    await first.close();
    await rm(program);
    const missing = {
      state: 'UNAVAILABLE',
      impaired: [{ reason: expect.stringContaining(`The command "${program}" was not found`) }],
    };
    for (const state of [stateDir, await temporaryDirectory()]) {
      const gateway = await openToolscout(config, { stateDir: state });
      expect(await gateway.skills.check('fire-watch')).toMatchObject(missing);
      expect(await gateway.skills.check(join(directory, 'fire-watch', 'skill.md'))).toMatchObject(missing);
      expect(await gateway.skills.list()).toMatchObject([missing]);
      expect(await gateway.skills.bind('fire-watch')).toMatchObject(missing);
      expect((await gateway.skills.get('fire-watch')).view()).toMatchObject(missing);
    }
  });

  it('NEG-2 a path that cannot be read is answered with what it must name', async () => {
    const gateway = await openToolscout({});
    await expect(gateway.skills.check('./nowhere/skill.md')).rejects.toMatchObject({
      code: 'SKILL_NOT_FOUND',
      message: expect.stringContaining('cannot be read: ') as string,
      suggestion: 'Check the path; it must name a skill.md.',
    });
  });

  it('NEG-4 a command that is gone at start is bad news at once; when it is back, READY is announced', async () => {
    const { directory } = await skillFolder('incident:read');
    const program = join(await temporaryDirectory(), 'irwin-mcp');
    const { command, args } = fixture('capable');
    const install = (): Promise<void> =>
      writeFile(program, `#!/bin/sh\nexec ${command} ${args[0]} "$@"\n`, { mode: 0o755 });
    await install();
    const servers = { irwin: { command: program, capabilities: ['incident:read'] } };
    const config = { servers, skills: { directories: [directory] } };
    const stateDir = await temporaryDirectory();
    const first = await openToolscout(config, { stateDir });
    await first.servers.discover();
    await first.close();
    await rm(program);
    const gateway = await openToolscout(config, { stateDir, learnAtStart: true });
    const heard = listen(gateway);
    await waitUntil(() => heard.length > 0, { what: 'the bad news', timeoutMs: 20_000 });
    await install();
    await waitUntil(() => heard.length > 1, { what: 'the good news', timeoutMs: 20_000 });
    expect(heard.map(({ type }) => type)).toEqual(['SKILL_UNAVAILABLE', 'SKILL_READY']);
  });

  it('NEG-3 a remote server that is known but not reachable now is not READY', async () => {
    const { directory } = await skillFolder('incident:read');
    const { createServer } = await import('node:http');
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as { port: number };
    await new Promise((resolve) => listener.close(resolve));
    const servers = { irwin: { url: `http://127.0.0.1:${port}/mcp`, capabilities: ['incident:read'] } };
    const gateway = await openToolscout({ servers, skills: { directories: [directory] } });
    expect(await gateway.skills.list()).toMatchObject([
      { state: 'DEGRADED', impaired: [{ reason: expect.stringContaining('not known yet') }] },
    ]);
    expect(await gateway.skills.check('fire-watch')).toMatchObject({ state: 'UNAVAILABLE' });
  });
});

describe('what a skill may call', STARTS_PROCESSES, () => {
  const setUp = async (): Promise<Gateway> => {
    const { directory } = await skillFolder('incident:read', 'gis:*');
    const gateway = await openToolscout({ servers: { irwin, arcgis, earth }, skills: { directories: [directory] } });
    await gateway.servers.discover();
    return gateway;
  };

  it('NEG-5 A37 a handle calls what it is bound to; everything else is FORBIDDEN in the library, and in the audit log', async () => {
    const gateway = await setUp();
    const skill = await gateway.skills.get('fire-watch');
    const asSkill = gateway.as(await gateway.skills.viewer('fire-watch'));
    expect(await skill.call('incident:read', 'get_incident', { id: 1 })).toMatchObject({ success: true });
    expect(await skill.call('gis:*', 'radius_query', {})).toMatchObject({ success: true });
    const refused = [
      await skill.call('incident:read', 'delete_incident', {}),
      await skill.call('incident:read', 'radius_query', {}),
      await skill.call('raster:dnbr', 'compute_dnbr', {}),
      await asSkill.call('irwin', 'delete_incident', {}),
      await asSkill.call('irwin', 'irwin:delete_incident', {}),
      await asSkill.call('earth', 'compute_dnbr', {}),
    ];
    for (const answer of refused) expect(answer).toMatchObject({ success: false, error: { code: 'FORBIDDEN' } });
    const records = await gateway.audit.list({ kind: 'execution', outcome: 'refused' });
    expect(records).toHaveLength(refused.length);
    expect(records.every(({ code, skill: who }) => code === 'FORBIDDEN' && who !== undefined)).toBe(true);
    expect(await gateway.call('earth', 'compute_dnbr', {})).toMatchObject({ success: true });
  });

  it('EXEC-1 NEG-5 a call for a skill that does not exist names the nearest, starts nothing and is recorded as refused', async () => {
    const { directory } = await skillFolder('incident:read');
    const counter = await startCounter();
    const counted = { ...irwin, args: [...irwin.args, counter.flag] };
    const gateway = await openToolscout({ servers: { irwin: counted }, skills: { directories: [directory] } });
    expect(await gateway.as(await gateway.skills.viewer('fire-wach')).call('irwin', 'get_incident', {})).toMatchObject({
      success: false,
      error: {
        code: 'SKILL_NOT_FOUND',
        message: 'There is no skill "fire-wach". Did you mean "fire-watch"?',
        suggestion: expect.stringContaining('toolscout skills list'),
      },
    });
    expect(await counter.pids()).toEqual([]);
    expect(await gateway.audit.list({ kind: 'execution' })).toMatchObject([
      { outcome: 'refused', code: 'SKILL_NOT_FOUND', skill: 'fire-wach' },
    ]);
    const args = ['call', 'irwin', 'get_incident', '--skill', 'fire-wach'];
    expect(await commandLine(args, { gateway })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean "fire-watch"?'),
    });
  });

  it('NEG-5 A37 a server that was not asked yet is learned before its tools are judged', async () => {
    const { directory } = await skillFolder('incident:read');
    const gateway = await openToolscout({ servers: { irwin }, skills: { directories: [directory] } });
    const skill = await gateway.skills.get('fire-watch');
    expect(await skill.call('incident:read', 'delete_incident', {})).toMatchObject({ error: { code: 'FORBIDDEN' } });
    expect(await skill.call('incident:read', 'get_incident', {})).toMatchObject({ success: true });
  });

  it('NEG-5 the command line refuses the same, and shows what a skill has', async () => {
    const { directory } = await skillFolder('incident:read', 'weather:read');
    const open = async (): Promise<Gateway> =>
      openToolscout({ servers: { irwin, earth }, skills: { directories: [directory] } });
    const refused = await commandLine(['call', 'irwin', 'delete_incident', '--skill', 'fire-watch', '--json'], {
      gateway: open,
    });
    expect(refused.code).toBe(4);
    expect(JSON.parse(refused.stdout)).toMatchObject({ success: false, error: { code: 'FORBIDDEN' } });
    expect((await commandLine(['call', 'irwin:get_incident', '--skill', 'fire-watch'], { gateway: open })).code).toBe(
      0,
    );
    const bound = await commandLine(['skills', 'bind', 'fire-watch'], { gateway: open });
    expect(bound).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('✓ incident:read → irwin (declared, 1 tool)'),
    });
    expect(bound.stdout).toContain('✗ weather:read: no server offers it');
    const list = await commandLine(['skills', 'list', '--json'], { gateway: open });
    expect(JSON.parse(list.stdout)).toMatchObject({ skills: [{ id: 'fire-watch', state: 'DEGRADED' }] });
    const file = join(directory, 'fire-watch', 'skill.md');
    expect((await commandLine(['skills', 'check', file, '--json'], { gateway: open })).code).toBe(3);
    expect((await commandLine(['skills', 'check', 'nobody'], { gateway: open })).code).toBe(2);
  });

  it('NEG-5 A37 an MCP host that is a skill finds, lists, reads and runs only what the skill declared', async () => {
    const gateway = await setUp();
    const host = await connectHost(gateway.as(await gateway.skills.viewer('fire-watch')));
    expect(host.instructions).toContain('arcgis, irwin');
    expect(host.instructions).not.toContain('earth');
    const servers = JSON.parse(textOf(await host.call('list_mcp_servers', {})));
    expect(servers.servers.map(({ server, tools }: { server: string; tools: number }) => [server, tools])).toEqual([
      ['arcgis', 1],
      ['irwin', 1],
    ]);
    const found = textOf(await host.call('search_tools', { query: 'incident delete dnbr', limit: 50 }));
    expect(found).toContain('get_incident');
    for (const hidden of ['delete_incident', 'earth', 'compute_dnbr']) expect(found).not.toContain(hidden);
    expect(textOf(await host.call('list_tools', { server: 'irwin', includeDisabled: true }))).not.toContain(
      'delete_incident',
    );
    for (const [name, args] of [
      ['list_tools', { server: 'earth' }],
      ['search_tools', { query: 'x', server: 'earth' }],
      ['get_tool_details', { server: 'irwin', tool: 'delete_incident' }],
      ['execute_tool', { server: 'irwin', tool: 'delete_incident', arguments: {} }],
      ['execute_tool', { server: 'earth', tool: 'compute_dnbr', arguments: {} }],
    ] as const) {
      const answer = await host.call(name, args);
      expect([name, answer['isError'], JSON.parse(textOf(answer)).code]).toEqual([name, true, 'FORBIDDEN']);
    }
    expect(
      await host.call('execute_tool', { server: 'irwin', tool: 'get_incident', arguments: { id: 7 } }),
    ).toMatchObject({ structuredContent: { id: 7 } });
    const refused = await gateway.audit.list({ kind: 'execution', outcome: 'refused' });
    expect(refused.map(({ skill, route, tool }) => [skill, route, tool]).toSorted()).toEqual([
      ['fire-watch', 'mcp', 'compute_dnbr'],
      ['fire-watch', 'mcp', 'delete_incident'],
    ]);
  });

  it('FIND-5 NEG-5 a tool outside of the bindings is out of scope, in the same words whether it exists or not', async () => {
    const gateway = await setUp();
    const scoped = gateway.as(await gateway.skills.viewer('fire-watch'));
    expect(await scoped.why('irwin', 'get_incident')).toMatchObject({ offered: true, because: 'none' });
    for (const [server, tool] of [
      ['irwin', 'delete_incident'],
      ['irwin', 'get_inciden'],
      ['nowhere', 'get_incident'],
    ] as const) {
      expect(await scoped.why(server, tool)).toEqual({
        address: `${server}:${tool}`,
        offered: false,
        because: 'scope',
        reason: `"${server}:${tool}" is not for skill "fire-watch": none of its bindings covers it.`,
      });
    }
  });

  it('CONN-2 NEG-5 the list of servers of a skill is what is known: no server is learned or waited for', async () => {
    const { directory } = await skillFolder('incident:read', 'gis:radius_query');
    const starts = await startCounter();
    const gateway = await openToolscout({
      servers: {
        irwin,
        hung: { ...fixture('slow', '--hang', starts.flag), capabilities: ['gis:radius_query'], connectTimeoutMs: 5000 },
      },
      skills: { directories: [directory] },
    });
    await gateway.servers.discover(['irwin']);
    const scoped = gateway.as(await gateway.skills.viewer('fire-watch'));
    expect(await scoped.servers.list()).toMatchObject([
      { id: 'hung', knowledge: 'unknown', tools: 0, disabledTools: 0 },
      { id: 'irwin', knowledge: 'ready', tools: 1, disabledTools: 0 },
    ]);
    expect(await starts.pids()).toEqual([]);
  });

  it('NEG-5 a verb without a scope is refused to a skill', async () => {
    const gateway = await setUp();
    const scoped = gateway.as(await gateway.skills.viewer('fire-watch'));
    for (const verb of [
      scoped.hosts.relay,
      scoped.hosts.subscribe,
      scoped.exports.write,
      scoped.audit.list,
      scoped.config.show,
      scoped.reload,
      scoped.servers.add,
      scoped.servers.discoverTools,
      scoped.skills.get,
    ]) {
      expect(() => (verb as (name: string) => unknown)('irwin')).toThrow(/may not use/);
    }
    expect(scoped.tools.definition('irwin', 'delete_incident')).toBeUndefined();
    expect((await scoped.tools.offered()).every(({ name }) => name !== 'compute_dnbr')).toBe(true);
    expect([...(await scoped.internal.knownFacts()).keys()]).toEqual([]);
  });
});
