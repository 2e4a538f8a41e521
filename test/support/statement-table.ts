import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { printTable } from '../../bench/support/report.js';

/** What tests showed about one statement of docs/requirements.md. */
interface Tally {
  tests: number;
  trials: number;
  failures: number;
  skipped: number;
}

const ID = /\b(?:[ASRC]\d{1,2}|[A-Z]{3,6}-\d{1,2})\b/g;

/** The ids at the beginning of a title. */
function idsOf(title: string): string[] {
  const [head = ''] = /^(?:(?:[ASRC]\d{1,2}|[A-Z]{3,6}-\d{1,2})[ ,]*)+/.exec(title) ?? [];
  return head.match(ID) ?? [];
}

const inOrder = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

/**
 * Prints what was tried: for each statement its tests, how often they tried what their titles say, and how many failed. The last line is
 * the same as JSON.
 */
// oxlint-disable-next-line import/no-default-export -- vitest looks for the default export.
export default class StatementTable implements Reporter {
  private readonly tallies = new Map<string, Tally>();

  onTestModuleEnd(module: TestModule): void {
    for (const test of module.children.allTests()) this.count(test);
  }

  private count(test: TestCase): void {
    const { state } = test.result();
    const { trials = 1 } = test.meta();
    for (const id of idsOf(test.name)) {
      const tally = this.tallies.get(id) ?? { tests: 0, trials: 0, failures: 0, skipped: 0 };
      this.tallies.set(id, tally);
      if (state === 'skipped' || state === 'pending') {
        tally.skipped++;
        continue;
      }
      tally.tests++;
      tally.trials += trials;
      if (state === 'failed') tally.failures++;
    }
  }

  onTestRunEnd(): void {
    const ran = [...this.tallies].filter(([, { tests }]) => tests > 0).toSorted(([a], [b]) => inOrder(a, b));
    const rows = ran.map(([id, { tests, trials, failures }]) => [id, String(tests), String(trials), String(failures)]);
    printTable('What was tried', ['statement', 'tests', 'trials', 'failures'], rows);
    console.log(JSON.stringify({ statements: Object.fromEntries(ran) }));
  }
}
