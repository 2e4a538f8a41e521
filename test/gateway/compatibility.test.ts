import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, isAlive, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';

const QUICK = { limits: { connectTimeoutMs: 1500 }, timeout: 1500 };

describe('servers that barely speak the protocol', () => {
  it('DISC-6 tools are read out of what a server prints: names, descriptions and schemas, with where they come from', async () => {
    const gateway = await openToolscout({ servers: { odd: fixture('speechless', '--says=functions') }, ...QUICK });
    const [tool] = await gateway.discoverTools('odd');
    expect(tool).toMatchObject({
      name: 'greet_person',
      description: 'Says hello',
      provenance: 'parsed',
      confidence: 0.9,
      status: 'disabled',
      definition: { inputSchema: { properties: { name: { type: 'string' } } } },
    });
  });

  it('DISC-6 only what a server listed can be found or run; everything else is refused and says why', async () => {
    const gateway = await openToolscout({ servers: { odd: fixture('speechless', '--says=prose') }, ...QUICK });
    await gateway.discover();
    expect((await gateway.searchTools('greet a person')).hits).toEqual([]);
    expect((await gateway.searchTools('greet a person', { includeDisabled: true })).hits[0]).toMatchObject({
      tool: 'greet_person',
    });
    const { success, error } = await gateway.executeTool('odd', 'greet_person', {});
    expect(success).toBe(false);
    expect(error).toMatchObject({ code: 'TOOL_DISABLED', message: expect.stringContaining('guessed') as string });
    expect(await gateway.why('odd', 'greet_person')).toMatchObject({ offered: false, because: 'provenance' });
  });

  it('DISC-6 stderr is read when stdout says nothing', async () => {
    const gateway = await openToolscout({ servers: { odd: fixture('speechless', '--says=stderr') }, ...QUICK });
    expect(await gateway.discoverTools('odd')).toMatchObject([{ name: 'greet_person', provenance: 'parsed' }]);
  });

  it('DISC-6 a plain answer without a handshake counts as the protocol', async () => {
    const gateway = await openToolscout({ servers: { odd: fixture('speechless', '--says=plain') }, ...QUICK });
    expect(await gateway.discoverTools('odd')).toMatchObject([
      { name: 'greet_person', provenance: 'protocol', status: 'enabled' },
    ]);
  });

  it('DISC-7 a server that hangs is ended at its time, and what it had printed is used', async () => {
    const file = join(await temporaryDirectory(), 'starts');
    const odd = fixture('speechless', '--says=prose', '--hang', `--start-file=${file}`);
    const gateway = await openToolscout({ servers: { odd }, ...QUICK });
    const tools = await gateway.discoverTools('odd');
    expect(tools.map(({ name }) => name)).toEqual(['greet_person', 'list_people', 'send_letter']);
    const pids = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[0]));
    await waitUntil(() => pids.every((pid) => !isAlive(pid)), { what: 'every start to have ended' });
  });

  it('DISC-6 the discovery environment is set for the ladder, never for an ordinary start', async () => {
    const file = join(await temporaryDirectory(), 'starts');
    const odd = fixture('speechless', '--says=prose', `--start-file=${file}`);
    const gateway = await openToolscout({ servers: { odd }, ...QUICK });
    await gateway.discover();
    const starts = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').slice(1).join(' '));
    expect(starts.at(-1)).toBe('discovery true');
    expect(starts.slice(0, -1).every((line) => line === ' ')).toBe(true);
    expect(starts.length).toBeGreaterThan(1);

    // What worked is tried first the next time: one start, and that of the ladder.
    await gateway.discover();
    const again = readFileSync(file, 'utf8').trimEnd().split('\n').slice(starts.length);
    expect(again.map((line) => line.split(' ').slice(1).join(' '))).toEqual(['discovery true']);
  });

  it('DISC-6 last comes what the client of the user approved, and nothing is still a failure', async () => {
    const gateway = await openToolscout({
      servers: {
        known: { ...fixture('speechless'), autoApprove: ['read_mail'] },
        unknown: fixture('speechless'),
      },
      ...QUICK,
    });
    const outcomes = await gateway.discover();
    expect(outcomes).toMatchObject([
      { server: 'known', ok: true, tools: 1 },
      { server: 'unknown', ok: false },
    ]);
    expect(await gateway.listTools('known', { includeDisabled: true })).toMatchObject([
      { name: 'read_mail', provenance: 'declared' },
    ]);
  });
});

describe('talking to a server raw', () => {
  it('DISC-7 shows every line that is said, in order, and what the ladder would read', async () => {
    const gateway = await openToolscout({
      servers: { odd: fixture('speechless', '--says=prose'), good: fixture('legacy') },
      ...QUICK,
    });
    const good = await gateway.discoverRaw('good');
    expect(good.lines.map(({ from }) => from)).toEqual(['us', 'stdout', 'us', 'us', 'stdout']);
    expect(good.lines.at(-1)!.text).toContain('"tools"');
    expect(good.read).toBeUndefined();
    const odd = await gateway.discoverRaw('odd');
    expect(odd.exit).toEqual({ code: 0, signal: null });
    expect(odd.read).toMatchObject({ rung: 'identifiers', provenance: 'guessed' });
    await expect(gateway.discoverRaw('nobody')).rejects.toMatchObject({ code: 'SERVER_NOT_FOUND' });
  });

  it('A33 what a server prints of its own secret is masked', async () => {
    const secret = 'canary-5e1f9a';
    const gateway = await openToolscout({
      servers: { odd: { command: 'sh', args: ['-c', 'echo "my key is $KEY"; echo "$KEY" >&2'], env: { KEY: secret } } },
      ...QUICK,
    });
    const report = JSON.stringify(await gateway.discoverRaw('odd'));
    expect(report).toContain('my key is');
    expect(report).not.toContain(secret);
  });
});

describe('output inference', () => {
  const callsTo = async (gateway: Awaited<ReturnType<typeof openToolscout>>): Promise<string[]> =>
    (await gateway.audit({ kind: 'execution' })).map(({ tool }) => tool ?? '');

  it('A36 DISC-9 unless asked for, discovery and export call no tool at all', async () => {
    const gateway = await openToolscout({ servers: { s: fixture('outputs') } });
    await gateway.discover();
    await gateway.exportTools({ format: 'json' });
    await gateway.toolSignature('s', 'get_status');
    expect(await callsTo(gateway)).toEqual([]);
  });

  it('DISC-9 a reading tool is called once, with the least it takes, and what it answers is its type from then on', async () => {
    const gateway = await openToolscout({ servers: { s: fixture('outputs') }, introspectOutputSchemas: true });
    const { returns } = await gateway.toolSignature('s', 'get_status');
    expect(returns).toEqual({ type: 'object', properties: { ok: { type: 'boolean' }, of: { type: 'string' } } });
    await gateway.toolSignature('s', 'get_status');
    expect(await callsTo(gateway)).toEqual(['get_status']);
  });

  it('DISC-9 nothing that may write is ever called, and an error is never a type', async () => {
    const gateway = await openToolscout({
      servers: { s: fixture('outputs') },
      introspectOutputSchemas: true,
      lazyOutputSchemas: false,
      introspectionInputs: { 's:get_named': { name: 'chosen' } },
    });
    await gateway.discover();
    await waitUntil(async () => (await callsTo(gateway)).length >= 3, { what: 'the reading tools to be tried' });
    await gateway.exportTools({ format: 'json' });
    expect((await callsTo(gateway)).toSorted()).toEqual(['get_broken', 'get_named', 'get_status']);
    expect((await gateway.toolSignature('s', 'get_broken')).returns).toEqual({});
    expect((await gateway.toolSignature('s', 'get_named')).returns).toMatchObject({
      properties: { chosen: { type: 'string' } },
    });
  });
});
