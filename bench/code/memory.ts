// What scripts leave behind in the process that ran them, once what is garbage has been collected and their worker has ended (CODE-3).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { conclude, printTable } from '../support/report.js';

/** What 1,000 scripts may leave, in MB. What the allocator keeps for later varies from run to run by up to ten; the heap does not. */
const BOUNDS = { heapMb: 0.5, residentMb: 20 };
/** A worker ends by itself after so many scripts, so after a multiple of that number none is left. */
const ROUND = 500;
const ROUNDS = 5;
const SETTLE_MS = 3000;
const SCRIPT = 'return Array.from({ length: 1000 }, (_, n) => n).length';

const collect = globalThis.gc;
if (!collect) throw new Error('Start this with --expose-gc.');
const built = new URL('../../dist/index.js', import.meta.url).href;
const { createToolscout } = (await import(built)) as typeof import('../../src/index.js');
const folder = mkdtempSync(join(tmpdir(), 'toolscout-bench-'));
const toolscout = await createToolscout({ config: { scripts: true, servers: {} }, stateDir: folder });

interface Usage {
  readonly heapMb: number;
  /** Private memory that is not backed by a file. */
  readonly residentMb: number;
}

async function usage(): Promise<Usage> {
  await pause(SETTLE_MS);
  collect!();
  collect!();
  const resident = /^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return { heapMb: process.memoryUsage().heapUsed / 1e6, residentMb: Number(resident) / 1024 };
}

const measured = [await usage()];
for (let round = 0; round < ROUNDS; round++) {
  for (let at = 0; at < ROUND; at++) {
    const { success } = await toolscout.run(SCRIPT);
    if (!success) throw new Error('A script failed.');
  }
  measured.push(await usage());
}
await toolscout.close();
rmSync(folder, { recursive: true, force: true });

const mb = (value: number): string => `${value.toFixed(1)} MB`;
printTable(
  'Memory of the process, without a worker',
  ['scripts', 'heap', 'resident'],
  measured.map(({ heapMb, residentMb }, at) => [String(at * ROUND), mb(heapMb), mb(residentMb)]),
);
// The first round loads code that stays; the least of two points is what is really in use.
const least = (field: keyof Usage, ...at: number[]): number => Math.min(...at.map((each) => measured[each]![field]));
const heapMb = least('heapMb', 4, 5) - least('heapMb', 1, 2);
const residentMb = least('residentMb', 4, 5) - least('residentMb', 1, 2);
conclude('script-memory', { heapMb, residentMb, measured }, [
  { name: 'heap left by 1,500 scripts', value: heapMb, most: BOUNDS.heapMb },
  { name: 'memory left by 1,500 scripts', value: residentMb, most: BOUNDS.residentMb },
]);
