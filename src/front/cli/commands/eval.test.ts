import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine, type Ran } from '../../../../test/support/command-line.js';
import { temporaryDirectory } from '../../../../test/support/fixture.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Gateway } from '../../../gateway/index.js';

const NOTES = [
  { name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } },
  { name: 'delete_note', description: 'Deletes a note for ever.', inputSchema: { type: 'object' } },
  { name: 'print_label', description: 'Prints a label.', inputSchema: { type: 'object' } },
];
const WEATHER = [{ name: 'get_forecast', description: 'The forecast for a city.', inputSchema: { type: 'object' } }];

const GOOD = [
  { id: 'q1', query: 'read a note', relevant: ['notes:read_note'] },
  { id: 'q2', query: 'forecast for a city', relevant: ['weather::get_forecast'] },
  { id: 'q3', query: 'print a label', relevant: [], groups: [['notes:delete_note', 'notes:print_label']] },
];

/** A gateway with two servers; a closed one of them can be asked again. */
async function own(config = {}): Promise<Gateway> {
  const servers = [
    { id: 'notes', tools: NOTES },
    { id: 'weather', tools: WEATHER },
  ];
  const { gateway } = await openOfflineGateway(servers, config);
  return { ...gateway, close: async () => undefined };
}

/** Writes a file into a folder of this test and answers its path. */
async function file(text: string | object[], name = 'queries.jsonl'): Promise<string> {
  const path = join(await temporaryDirectory(), name);
  await writeFile(path, typeof text === 'string' ? text : text.map((line) => JSON.stringify(line)).join('\n'));
  return path;
}

const run = async (gateway: Gateway, ...args: string[]): Promise<Ran> => commandLine(['eval', ...args], { gateway });

describe('toolscout eval', STARTS_PROCESSES, () => {
  it('FIND-2 --json gives exactly the documented figures, over the user’s own catalog', async () => {
    const ran = await run(await own(), await file(GOOD), '--json');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toEqual({
      n: 3,
      hit1: 1,
      recall: { '1': 1, '3': 1, '5': 1, '10': 1 },
      ndcg10: 1,
      mrr: 1,
      p50Ms: expect.any(Number) as number,
      p95Ms: expect.any(Number) as number,
    });
  });

  it('FIND-2 the text shows every figure and the worst queries: what was wanted, what came instead', async () => {
    const odd = { id: 'odd', query: 'note', relevant: ['weather:get_forecast'] };
    const ran = await run(await own(), await file([...GOOD, odd]));
    expect(ran.code).toBe(0);
    for (const figure of ['hit@1', 'Recall@1', 'Recall@3', 'Recall@5', 'Recall@10', 'nDCG@10', 'MRR', 'p50', 'p95']) {
      expect(ran.stdout).toMatch(new RegExp(`^${figure} +\\d`, 'm'));
    }
    expect(ran.stdout).toContain('nDCG@10   0.750\n');
    expect(ran.stdout).toMatch(/0\.00 {2}odd: note\n +wanted {2}weather:get_forecast\n +came +notes:/);
  });

  it('FIND-2 the text says where it loses: not among candidates, a near-twin first, or outranked', async () => {
    const lost = [
      { id: 'far', query: 'print a label', relevant: ['weather:get_forecast'] },
      { id: 'twin', query: 'delete a note for ever', relevant: ['notes:read_note'] },
    ];
    const ran = await run(await own(), await file(lost));
    expect(ran.stdout).toMatch(
      /Where it loses.*\n +1 {2}not among candidates\n +1 {2}near-twin first\n +0 {2}outranked\n/,
    );
    expect((await run(await own(), await file(GOOD))).stdout).not.toContain('Where it loses');
  });

  it('FIND-2 a second run of the same queries is shown against the first, other queries are not', async () => {
    const odd = { id: 'odd', query: 'note', relevant: ['weather:get_forecast'] };
    const gateway = await own();
    const path = await file([...GOOD, odd]);
    expect((await run(gateway, path)).stdout).not.toContain('the run before');
    const again = await run(gateway, path);
    expect(again.stdout).toContain('against the run before');
    expect(again.stdout).toContain('nDCG@10   0.750 (±0.000)');
    expect((await run(gateway, await file(GOOD))).stdout).not.toContain('the run before');
  });

  describe('--against', () => {
    const ODD = { id: 'odd', query: 'note', relevant: ['weather:get_forecast'] };

    it('FIND-2 compares query by query with a saved report, and says how sure the difference is', async () => {
      const queries = await file([...GOOD, ODD]);
      const old = { n: 4, ndcg10: 0.5, queries: [] as object[] };
      old.queries = [
        { id: 'q1', ndcg10: 0.5 },
        { id: 'q2', ndcg10: 1 },
        { id: 'odd', ndcg10: 0.3 },
        { id: 'gone', ndcg10: 1 },
      ];
      const saved = await file(JSON.stringify(old), 'old.json');
      const text = await run(await own(), queries, '--against', saved);
      expect(text.code).toBe(0);
      expect(text.stdout).toContain('Against the other run (nDCG@10 0.500 → 0.750)');
      expect(text.stdout).toMatch(/\+0\.067 over 3 queries, between -0\.\d{3} and \+0\.\d{3} in 95 of 100/);
      expect(text.stdout).toContain('1 win, 1 loss, 1 tie');
      expect(text.stdout).toMatch(/0\.30 → 0\.00 {2}odd: note\n0\.50 → 1\.00 {2}q1: read a note/);
      const machine = await run(await own(), queries, '--against', saved, '--json');
      expect((JSON.parse(machine.stdout) as { against: object }).against).toMatchObject({
        ndcg10: 0.5,
        change: { mean: expect.closeTo(0.0667, 3) as number },
        compared: 3,
        wins: 1,
        losses: 1,
        ties: 1,
        changed: [
          { id: 'odd', before: 0.3, now: 0 },
          { id: 'q1', before: 0.5, now: 1 },
        ],
      });
    });

    it('FIND-2 what --json --each prints can be compared with; a run against itself changes nothing', async () => {
      const queries = await file([...GOOD, ODD]);
      const first = await run(await own(), queries, '--json', '--each');
      expect(JSON.parse(first.stdout)).toMatchObject({ n: 4, queries: [{ id: 'q1', ndcg10: 1 }, {}, {}, {}] });
      const again = await run(await own(), queries, '--against', await file(first.stdout, 'first.json'));
      expect(again.stdout).toContain('±0.000 over 4 queries, between ±0.000 and ±0.000');
      expect(again.stdout).toContain('0 wins, 0 losses, 4 ties');
    });

    it('FIND-2 a report without the queries is compared by its figure only', async () => {
      const plain = await file(JSON.stringify({ n: 3, ndcg10: 0.25 }), 'plain.json');
      const ran = await run(await own(), await file(GOOD), '--against', plain);
      expect(ran.stdout).toContain('nDCG@10 0.250 → 1.000');
      expect(ran.stdout).toContain('save it with --json --each');
    });

    it('FIND-2 another file is the config of the other run', async () => {
      const queries = await file(GOOD);
      const config = await file('servers: {}', 'other.yaml');
      const gateway = await own();
      const ran = await run(gateway, queries, '--against', config, '--json');
      expect(ran.code).toBe(0);
      expect(ran.opened.map((options) => options.config)).toEqual([undefined, config]);
      expect(JSON.parse(ran.stdout)).toMatchObject({ against: { compared: 3, ties: 3 } });
    });

    it('CLI-2 a file that is not there ends with an error before anything is opened', async () => {
      const missing = await commandLine(['eval', await file(GOOD), '--against', '/nowhere.json']);
      expect(missing).toMatchObject({ code: 64, opened: [] });
      expect(missing.stderr).toContain('There is no file /nowhere.json.');
    });
  });

  it('FIND-2 recorded tools are read from a folder of server files, and no rule of the user hides them', async () => {
    const folder = join(await temporaryDirectory(), 'recorded');
    await mkdir(folder);
    await writeFile(join(folder, 'acme__desk.json'), JSON.stringify({ meta: {}, tools: NOTES }));
    await writeFile(join(folder, 'README.md'), 'not a server');
    const queries = await file([{ id: 'q', query: 'delete a note', relevant: ['acme__desk::delete_note'] }]);
    const gateway = await own({ toolRules: [{ pattern: '*', enabled: false }] });
    const ran = await run(gateway, queries, '--tools', folder, '--json');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ n: 1, hit1: 1, ndcg10: 1 });
  });

  it('FIND-2 recorded tools are read from lines; servers of one name and two origins stay apart', async () => {
    const lines = [
      { id: 'a|desk::read', server: 'desk', ...NOTES[0] },
      { id: 'b|desk::read', server: 'desk', name: 'read_note', description: 'Reads a bank note under a lamp.' },
    ];
    const queries = await file([{ id: 'q', query: 'bank note lamp', relevant: ['b|desk::read'] }]);
    const ran = await run(await own(), queries, '--tools', await file(lines, 'tools.jsonl'), '--json');
    expect(JSON.parse(ran.stdout)).toMatchObject({ n: 1, hit1: 1 });
  });

  it('FIND-2 a wanted tool that is not offered is named on stderr and counts as not found', async () => {
    const gateway = await own({ toolRules: [{ pattern: 'delete_*', enabled: false }] });
    const wanted = ['notes:delete_note', 'gone:tool'];
    const ran = await run(gateway, await file([{ id: 'q', query: 'note', relevant: wanted }]), '--json');
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('2 wanted tools are not among the offered tools');
    expect(ran.stderr).toContain('gone:tool');
    expect(JSON.parse(ran.stdout)).toMatchObject({ recall: { '10': 0 } });
    const one = await run(await own(), await file([{ id: 'q', query: 'note', relevant: ['gone:tool'] }]));
    expect(one.stderr).toContain('1 wanted tool is not among the offered tools and counts as not found: gone:tool');
    expect(one.stdout).toMatch(/^1 query over \d+ tools\n/);
  });

  it('CLI-2 bad lines are named by their numbers, and nothing is opened', async () => {
    const text = ['{"query":"x","relevant":["a:b"]}', '', '{"query":', '[1]', '{"query":"x","relevant":[]}'].join('\n');
    const ran = await commandLine(['eval', await file(text), '--json']);
    expect(ran).toMatchObject({ code: 64, opened: [] });
    for (const complaint of ['3 bad lines', 'line 3 is not JSON', 'line 4 is not a JSON object', 'line 5: relevant']) {
      expect(ran.stderr).toContain(complaint);
    }
    const { error } = JSON.parse(ran.stdout) as { error: { code: string; problems: Array<{ path: string }> } };
    expect(error.code).toBe('INVALID_REQUEST');
    expect(error.problems.map(({ path }) => path.split(':').at(-1))).toEqual(['3', '4', '5']);
  });

  it('CLI-2 files that cannot be read, are empty or hold something else end with 64', async () => {
    const good = await file(GOOD);
    const wrong = join(await temporaryDirectory(), 'wrong');
    await mkdir(wrong);
    const cases: Array<[string[], string]> = [
      [['/nowhere/queries.jsonl'], 'There is no file /nowhere'],
      [[await file('\n\n')], 'contains no queries'],
      [[good, '--tools', '/nowhere'], 'There is no file /nowhere'],
      [[good, '--tools', wrong], 'contains no .json files'],
      [[good, '--tools', await file('{"id":"x"}', 'tools.jsonl')], 'line 1: server'],
      [[], 'missing required argument'],
    ];
    for (const [args, complaint] of cases) {
      const ran = await commandLine(['eval', ...args]);
      expect(ran).toMatchObject({ code: 64, stdout: '', opened: [] });
      expect(ran.stderr).toContain(complaint);
    }
    await writeFile(join(wrong, 'server.json'), '{"tools": 7}');
    const ran = await commandLine(['eval', good, '--tools', wrong]);
    expect(ran.code).toBe(64);
    expect(ran.stderr).toContain('server.json: tools');
  });

  it('CLI-2 without a single tool to search it ends with 2', async () => {
    const { gateway } = await openOfflineGateway([]);
    const ran = await run(gateway, await file(GOOD));
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('NOTHING_FOUND: There are no tools to search.');
  });

  it('CLI-1 what a file or a server calls itself cannot command the terminal', async () => {
    const lines = [{ id: 'x\u001b[2J', server: 's', name: 'read\u001b[2J', description: 'Reads a note.' }];
    const queries = await file([{ id: '\u001b[2J', query: 'note \u001b[2J', relevant: ['n\u001b[2J'] }]);
    const ran = await run(await own(), queries, '--tools', await file(lines, 'tools.jsonl'));
    expect(ran.code).toBe(0);
    expect(ran.stdout + ran.stderr).not.toContain('\u001b');
  });
});
