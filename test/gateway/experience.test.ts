import { describe, expect, it } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { viewerOf, type Gateway } from '../../src/gateway/index.js';
import type { Hit } from '../../src/model/hit.js';

const ASKED = 'florp zindle';

/** A query that names no tool; `echo` is only found because the second word is its own. */
const FIRST = 'florp echo';

/** The gateway as a principal has it who sees everything. */
const as = (gateway: Gateway, name: string): Gateway => gateway.as(viewerOf({ name, scopes: new Set(['call']) }));

async function hitsOf(gateway: Gateway, query: string): Promise<readonly Hit[]> {
  return (await gateway.search(query, { explain: true })).hits;
}

const isShown = (hits: readonly Hit[], tool: string): boolean => hits.some((hit) => hit.tool === tool);

/** What is stored of usage is written behind the answer. */
async function learnedFrom(gateway: Gateway, query: string): Promise<void> {
  await waitUntil(async () => isShown(await hitsOf(gateway, query), 'echo'), { what: 'the usage to be remembered' });
}

describe('usage memory', STARTS_PROCESSES, () => {
  it('FIND-2 a query that led to a successful execution finds the tool again, also after a restart, and says so', async () => {
    const stateDir = await temporaryDirectory();
    const config = { servers: { old: fixture('legacy') } };
    const gateway = await openToolscout(config, { stateDir });
    expect(isShown(await hitsOf(gateway, ASKED), 'echo')).toBe(false);
    expect(isShown(await hitsOf(gateway, FIRST), 'echo')).toBe(true);
    expect((await gateway.call('old', 'echo', { message: 'hi' })).success).toBe(true);
    await learnedFrom(gateway, ASKED);
    const [hit] = await hitsOf(gateway, ASKED);
    expect(hit!.explanation!.signals).toContainEqual({ name: 'usage', share: expect.any(Number) as number });
    await gateway.close();

    const again = await openToolscout(config, { stateDir });
    expect(isShown(await hitsOf(again, ASKED), 'echo')).toBe(true);
    expect(await again.tools.forgetUsage()).toBe(1);
    expect(isShown(await hitsOf(again, ASKED), 'echo')).toBe(false);
  });

  it('FIND-2 nothing is learned from a failed or refused call, or from a tool that was not shown', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy') },
      toolRules: [{ pattern: '*add*', enabled: false }],
    });
    await hitsOf(gateway, FIRST);
    expect((await gateway.call('old', 'echo', { message: 5 })).success).toBe(false);
    expect((await gateway.call('old', 'add', { a: 1, b: 1 })).success).toBe(false);
    expect(isShown(await hitsOf(gateway, ASKED), 'echo')).toBe(false);
    const stateDir = await temporaryDirectory();
    const config = { servers: { old: fixture('legacy') } };
    const other = await openToolscout(config, { stateDir });
    await hitsOf(other, ASKED);
    expect((await other.call('old', 'echo', { message: 'hi' })).success).toBe(true);
    // What is remembered is written behind the answer, at the latest at the end.
    await other.close();
    expect(isShown(await hitsOf(await openToolscout(config, { stateDir }), ASKED), 'echo')).toBe(false);
  });

  it('FIND-2 principals do not learn from each other, and those of a shared service only when asked to', async () => {
    const servers = { old: fixture('legacy') };
    const shared = await openToolscout({ servers, usageMemory: true });
    await hitsOf(as(shared, 'ann'), FIRST);
    expect((await as(shared, 'ann').call('old', 'echo', { message: 'hi' })).success).toBe(true);
    await waitUntil(async () => isShown(await hitsOf(as(shared, 'ann'), ASKED), 'echo'), { what: 'ann to be known' });
    expect(isShown(await hitsOf(as(shared, 'bob'), ASKED), 'echo')).toBe(false);
    expect(isShown(await hitsOf(shared, ASKED), 'echo')).toBe(false);

    for (const usageMemory of ['local', false] as const) {
      const stateDir = await temporaryDirectory();
      const principal = usageMemory === 'local' ? 'ann' : 'local';
      const gateway = as(await openToolscout({ servers, usageMemory }, { stateDir }), principal);
      await hitsOf(gateway, FIRST);
      expect((await gateway.call('old', 'echo', { message: 'hi' })).success).toBe(true);
      expect(isShown(await hitsOf(gateway, ASKED), 'echo')).toBe(false);
      await gateway.close();
      const again = as(await openToolscout({ servers, usageMemory }, { stateDir }), principal);
      expect(isShown(await hitsOf(again, ASKED), 'echo')).toBe(false);
    }
  });

  it('A33 no file of the store holds a word of what was asked', async () => {
    const stateDir = await temporaryDirectory();
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } }, { stateDir });
    await hitsOf(gateway, FIRST);
    await gateway.call('old', 'echo', { message: 'hi' });
    await learnedFrom(gateway, ASKED);
    await gateway.close();
    for (const name of readdirSync(stateDir)) {
      expect(readFileSync(join(stateDir, name)).toString('latin1').toLowerCase()).not.toMatch(/florp|zindle/);
    }
  });
});
