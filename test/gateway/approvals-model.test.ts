import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

/** What is certain about one tool at a moment, seen from outside. */
interface Certainty {
  version: number;
  /**
   * No approval can hold for its present state: it was rejected, or changed and was seen again, and no approval has
   * begun since.
   */
  held: boolean;
  approvalsBegun: number;
  approvalsRunning: number;
}

const NAMES = ['alpha', 'beta', 'gamma'] as const;
const WORKERS = 6;
const STEPS = 60;

/** Small and repeatable; the seed stands in the title. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('approvals under concurrent use', STARTS_PROCESSES, () => {
  it.each([1, 4711, 20_261_116])(
    'R17 SEC-9 no call succeeds on a tool that was not approved at any moment of the call (seed %i)',
    { timeout: patient(120_000) },
    async (seed) => {
      const random = randomOf(seed);
      const folder = await temporaryDirectory();
      const file = join(folder, 'shown.json');
      const tools = new Map<string, Certainty>(
        NAMES.map((name) => [name, { version: 0, held: false, approvalsBegun: 0, approvalsRunning: 0 }]),
      );
      let drafts = 0;
      const show = async (): Promise<void> => {
        const listed = [...tools].map(([name, { version }]) => ({
          name,
          description: `Version ${version}.`,
          inputSchema: { type: 'object' },
        }));
        const draft = `${file}.${drafts++}`;
        await writeFile(draft, JSON.stringify({ tools: listed }));
        // One rename: the server never reads half of it.
        await rename(draft, file);
      };
      await show();
      const gateway = await openToolscout({
        servers: {
          s: { ...fixture('changing', `--file=${file}`), rateLimit: { requestsPerSecond: 1000, burstSize: 1000 } },
        },
      });
      await gateway.servers.discover();
      const seen = { success: 0, refused: 0, certain: 0 };

      const change = async (tool: Certainty): Promise<void> => {
        const { approvalsBegun, approvalsRunning } = tool;
        tool.version++;
        const mine = tool.version;
        await show();
        // The first may join a run that asked the server before the change was shown.
        await gateway.servers.discover();
        await gateway.servers.discover();
        // Approved in between, or changed again: nothing is certain.
        if (approvalsRunning === 0 && tool.approvalsBegun === approvalsBegun && tool.version === mine) tool.held = true;
      };
      const decide = async (name: string, tool: Certainty): Promise<void> => {
        if (random(2) === 0) {
          const { approvalsBegun, approvalsRunning } = tool;
          const isDone = await gateway.approvals.reject(`s:${name}`, { by: 'ann' }).then(
            () => true,
            // There was nothing to reject; that proves nothing.
            () => false,
          );
          if (isDone && approvalsRunning === 0 && tool.approvalsBegun === approvalsBegun) tool.held = true;
          return;
        }
        tool.approvalsBegun++;
        tool.approvalsRunning++;
        tool.held = false;
        await gateway.approvals.approve(`s:${name}`, { by: 'ann' }).catch((thrown: { code?: string }) => thrown.code);
        tool.approvalsRunning--;
      };
      const call = async (name: string, tool: Certainty): Promise<void> => {
        const { held, approvalsBegun } = tool;
        const { success, error } = await gateway.call('s', name, {});
        if (success) seen.success++;
        else seen.refused++;
        if (error) expect(['APPROVAL_REQUIRED', 'TOOL_CHANGED']).toContain(error.code);
        if (!held || tool.approvalsBegun !== approvalsBegun) return;
        seen.certain++;
        expect({ name, success, seed }).toEqual({ name, success: false, seed });
      };

      const work = async (): Promise<void> => {
        for (let step = 0; step < STEPS; step++) {
          const name = NAMES[random(NAMES.length)]!;
          const tool = tools.get(name)!;
          const dice = random(10);
          if (dice < 1) await change(tool);
          else if (dice < 4) await decide(name, tool);
          else await call(name, tool);
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, work));
      // Each kind of thing has happened, or nothing was proven.
      expect(Math.min(seen.success, seen.refused, seen.certain)).toBeGreaterThan(5);
    },
  );
});
