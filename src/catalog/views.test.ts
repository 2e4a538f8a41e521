import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import { createPool, type Pool } from '../connect/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { silentLog } from '../kernel/log.js';
import { Config, type ConfigInput } from '../model/config.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import { createCatalog, isStale, isUsable, type Catalog, type LearnedList } from './catalog.js';
import { createLearner, type Learner } from './learning/learner.js';
import { coverageOf, PLAIN_WORDS } from './coverage.js';
import { problemOf, viewServer } from './views.js';
import { explainFor, type Why } from '../gateway/reports/why.js';
import { LOCAL_VIEWER } from '../gateway/viewer.js';
import { instructionsFor, passthroughInstructions } from '../front/mcp/menu/meta-menu.js';

const clock = createFakeClock();
const server = (id: string, overrides: Partial<Server> = {}): Server => ({
  ...stdioServer(id, { command: 'x' }),
  ...overrides,
});
const listOf = (...names: string[]): LearnedList => ({
  items: names.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } })),
  learnedAt: clock.now(),
  dropped: 0,
});

function sources(
  servers: readonly Server[],
  config: ConfigInput = {},
): { catalog: Catalog; learner: Learner; pool: Pool; hide(text: string): string; isStale(list: LearnedList): boolean } {
  const pool = createPool({
    clock,
    log: silentLog,
    healthIntervalMs: 0,
    breaker: { failures: 5, resetMs: 1000 },
    open: () => Promise.reject(new ToolscoutError('SERVER_CONNECTION_ERROR', 'secret-value is wrong')),
  });
  const learner = createLearner({
    clock,
    run: () => Promise.reject(new ToolscoutError('TOOLS_LIST_FAILED', 'It said secret-value.')),
  });
  return {
    catalog: createCatalog(Config.parse(config), servers),
    learner,
    pool,
    hide: (text) => text.replaceAll('secret-value', '***'),
    isStale: (list) => isStale(list, Config.parse(config).cache, clock.now()),
  };
}

describe('the catalog', () => {
  it('FIND-3 holds a list, replaces it whole, and drops it', async () => {
    const { catalog } = sources([server('a')]);
    expect(catalog.list('a')).toBeUndefined();
    await catalog.put(server('a'), listOf('one', 'two'));
    expect(catalog.index.tools('a').map(({ name }) => name)).toEqual(['one', 'two']);
    await catalog.put(server('a'), listOf('two', 'three'));
    expect(catalog.index.tools('a').map(({ name }) => name)).toEqual(['three', 'two']);
    expect(catalog.tool('a', 'three').description).toBe('Does three.');
    catalog.drop('a');
    expect(catalog.list('a')).toBeUndefined();
    expect(catalog.index.tools('a')).toEqual([]);
  });

  it('PAT-3 META-4 rules decide when a list is put in, and what is not there is refused with the nearest names', async () => {
    const { catalog } = sources([server('files'), server('notes')], {
      toolRules: [{ pattern: 'files:delete_*', enabled: false }],
    });
    const tools = await catalog.put(server('files'), listOf('delete_file', 'read_file'));
    await catalog.put(server('notes'), listOf('read_note'));
    expect(tools.map(({ name, status }) => `${name} ${status}`)).toEqual(['delete_file disabled', 'read_file enabled']);
    expect(() => catalog.server('fils')).toThrow('There is no server "fils". Did you mean "files"?');
    expect(() => catalog.tool('files', 'raed_file')).toThrow('Did you mean "read_file"');
    expect(() => catalog.tool('files', 'read_note')).toThrow('"notes:read_note"');
    expect(() => catalog.tool('nobody', 'x')).toThrow(expect.objectContaining({ code: 'SERVER_NOT_FOUND' }) as Error);
  });
});

describe('the view of a server', () => {
  it('CONN-2 says how much is known: unknown, learning, failed, ready, stale, off', async () => {
    const a = server('a');
    const around = sources([a]);
    const knowledge = (which: Server = a): string => viewServer(which, around).knowledge;
    expect(knowledge()).toBe('unknown');
    const learning = around.learner.learn(a);
    expect(knowledge()).toBe('learning');
    await expect(learning).rejects.toThrow();
    expect(viewServer(a, around)).toMatchObject({ knowledge: 'failed', problem: 'It said ***.', tools: 0 });
    await around.catalog.put(a, {
      ...listOf('one'),
      dropped: 3,
      info: { name: 'n', version: '1', title: 'Its own title' },
    });
    expect(viewServer(a, around)).toMatchObject({
      knowledge: 'ready',
      title: 'Its own title',
      tools: 1,
      droppedTools: 3,
      learnedAt: clock.now(),
    });
    expect(viewServer(a, around).problem).toBeUndefined();
    await around.catalog.put(a, { ...listOf('one'), freshMs: 0 });
    expect(knowledge()).toBe('stale');
    expect(knowledge({ ...a, enabled: false })).toBe('off');
    expect(knowledge({ ...a, problem: 'a variable is missing' })).toBe('off');
    expect(viewServer({ ...a, title: 'Ours' }, around).title).toBe('Ours');
  });

  it('DISC-6 tools that were read out of output do not hide that the server fails', async () => {
    const a = server('a');
    const around = sources([a]);
    await around.catalog.put(a, { ...listOf('one'), rung: 'identifiers' });
    expect(viewServer(a, around)).toMatchObject({ knowledge: 'ready', fallbackTools: 1 });
    await expect(around.learner.learn(a)).rejects.toThrow();
    expect(viewServer(a, around)).toMatchObject({ knowledge: 'failed', problem: 'It said ***.', fallbackTools: 1 });
    await around.catalog.put(a, { ...listOf('one'), rung: 'plain-list' });
    expect(viewServer(a, around)).toMatchObject({ knowledge: 'ready', tools: 1 });
  });

  it('A33 the last error of a connection is shown without secrets', async () => {
    const a = server('a');
    const around = sources([a]);
    await expect(around.pool.use(a, async () => undefined)).rejects.toThrow();
    expect(viewServer(a, around).health.state).toBe('error');
    expect(JSON.stringify(viewServer(a, around))).not.toContain('secret-value');
  });

  it('CFG-4 a server is usable when it is on and complete', () => {
    const around = sources([]);
    expect(isUsable(server('a'))).toBe(true);
    expect(isUsable(server('a', { enabled: false }))).toBe(false);
    expect(isUsable(server('a', { problem: 'x' }))).toBe(false);
    expect(problemOf(server('a', { enabled: false }), around)).toBe('disabled in the configuration');
    expect(problemOf(server('a', { problem: 'KEY is not set' }), around)).toBe('KEY is not set');
    expect(problemOf(server('a'), around)).toBeUndefined();
  });
});

describe('the coverage line', () => {
  it('META-8 names each domain once, in order, whatever the order of the servers', () => {
    const ids = ['slack-mcp-server', 'github', 'gh-tools', 'github-enterprise', 'notion'];
    const line = coverageOf(ids.map((id) => server(id)));
    expect(line).toBe(coverageOf(ids.toReversed().map((id) => server(id))));
    expect(line.split(', ')).toEqual([...new Set(line.split(', '))].toSorted());
    expect(line).toContain('github');
    expect(coverageOf([])).toBe('');
    expect(coverageOf([server('github', { enabled: false })])).toBe('');
  });

  it('META-8 stays short however many there are, and says how many are left out', async () => {
    const line = coverageOf(Array.from({ length: 500 }, (_, index) => server(`product${index}`)));
    expect(countTokens(line)).toBeLessThanOrEqual(60);
    const [, more] = / and (\d+) more$/.exec(line) ?? [];
    expect(Number(more) + line.split(', ').length).toBe(500);
  });

  it('META-8 META-2 keeps within its tokens whatever servers are called', () => {
    const odd = Array.from({ length: 33 }, (_, index) => `${'qwertzuiopasdfghjkl'[index % 19]}${index}`);
    const longest = 'z'.repeat(256);
    const hold = (ids: readonly string[]): void => {
      const line = coverageOf(ids.map((id) => server(id)));
      expect(countTokens(line), line).toBeLessThanOrEqual(60);
      for (const told of [instructionsFor(line), passthroughInstructions(line)]) {
        expect(countTokens(told), told).toBeLessThan(150);
      }
    };
    hold(odd);
    hold([longest]);
    hold([longest, ...odd, '漢字', 'ⴰⵣⵓⵍ', '😀', '1.2.3.4.5.6.7.8.9']);
    const id = fc.oneof(
      fc.stringMatching(/^[a-z0-9._-]{1,20}$/),
      fc.stringMatching(/^[qzxjvkwy]{1,20}$/),
      fc
        .array(fc.constantFrom(...PLAIN_WORDS, '9', 'x', '-', '.'), { minLength: 1, maxLength: 5 })
        .map((parts) => parts.join('-')),
      fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
    );
    fc.assert(fc.property(fc.uniqueArray(id, { maxLength: 60 }), hold), { numRuns: 500 });
  });

  it('META-8 an endless name hides no other, and well-known words are named cheaply', () => {
    const common = 'github slack discord jira confluence notion linear aws google azure sqlite fs web email calendar';
    expect(coverageOf([server('a'.repeat(256)), server('github')])).toBe('github and 1 more');
    expect(coverageOf([server('b'.repeat(256))])).toBe('1 server');
    const line = coverageOf(common.split(' ').map((each) => server(each)));
    expect(line.split(', ').length).toBeGreaterThan(11);
    for (const word of PLAIN_WORDS) {
      expect(countTokens(`a, ${word}`), word).toBeLessThanOrEqual(4);
      expect(countTokens(`a.${word}.a`), word).toBeLessThanOrEqual(6);
    }
  });
});

describe('explainFor', () => {
  const ask = async (patch: Partial<Tool>): Promise<Why> => {
    const around = sources([server('a')]);
    await around.catalog.put(server('a'), { ...listOf('one'), learnedAt: clock.now() - 3 * 60_000 });
    const [tool] = around.catalog.index.tools('a');
    // Statuses that only approvals give are not made by rules, so they are put in place by hand.
    const index = { ...around.catalog.index, tool: () => ({ ...tool!, ...patch }) };
    return explainFor(LOCAL_VIEWER, 'a', 'one', {
      ...around,
      catalog: { ...around.catalog, index },
      now: clock.now(),
      isHidden: false,
    });
  };

  it('FIND-5 approval, quarantine and provenance have their sentences', async () => {
    expect(await ask({ status: 'pending' })).toMatchObject({
      offered: false,
      because: 'approval',
      reason: '"a:one" is not offered: it waits for approval.',
      remedy: { kind: 'review', ref: 'a:one' },
    });
    expect(
      await ask({ status: 'quarantined', hold: { cause: 'changed', reason: 'it changed after it was trusted' } }),
    ).toMatchObject({
      offered: false,
      because: 'quarantine',
      reason: '"a:one" is quarantined: it changed after it was trusted.',
      remedy: { kind: 'review-change', ref: 'a:one' },
    });
    expect(
      await ask({ status: 'quarantined', hold: { cause: 'rejected', reason: 'it was rejected by ann' } }),
    ).toMatchObject({
      because: 'rejected',
      reason: '"a:one" is not offered: it was rejected by ann.',
      remedy: { kind: 'undo-rejection', ref: 'a:one' },
    });
    expect(await ask({ provenance: 'guessed' })).toMatchObject({
      offered: false,
      because: 'provenance',
      reason: expect.stringContaining('guessed') as string,
    });
    expect(await ask({})).toMatchObject({
      offered: true,
      because: 'none',
      reason: expect.stringContaining('learned 3 min ago') as string,
    });
  });
});
