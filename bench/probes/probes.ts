// How long does a refresh of hundreds of servers take when some hang and some answer garbage, and what is left of it in memory?
// -- --servers=500 --hanging=50 --garbage=50 --refreshes=10
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openGateway } from '../../src/app/open-gateway.js';
import { conclude, printTable } from '../support/report.js';

/** Servers are probed in parallel: one that hangs costs one timeout, the rest finishes meanwhile. */
const MAX_TIMEOUTS = 2;
/** Between the first refreshes, which warm everything up, and the last. */
const MAX_GROWTH = 0.1;
const TIMEOUT_MS = 1500;
const WARM_UP = 2;

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '500' },
    hanging: { type: 'string', default: '50' },
    garbage: { type: 'string', default: '50' },
    refreshes: { type: 'string', default: '10' },
  },
});
const [servers, hanging, garbage] = [Number(values.servers), Number(values.hanging), Number(values.garbage)];

function heapMb(): number {
  if (!globalThis.gc) throw new Error('Run it with --expose-gc.');
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed / 1e6;
}

const folder = mkdtempSync(join(tmpdir(), 'toolscout-bench-'));
const targets = fork(fileURLToPath(new URL('targets.mjs', import.meta.url)), { execArgv: [] });
try {
  const [[hung, odd, good]] = (await once(targets, 'message')) as [number[]];
  const portOf = (at: number): number => (at < hanging ? hung! : at < hanging + garbage ? odd! : good!);
  const listed = Array.from({ length: servers }, (_, at) => ({
    id: `s${at}`,
    base_url: `http://127.0.0.1:${portOf(at)}`,
  }));
  const inventory = join(folder, 'tools.json');
  writeFileSync(inventory, JSON.stringify(listed));
  const gateway = await openGateway({
    config: { servers: {} },
    stateDir: 'memory',
    cwd: folder,
    env: {
      TOOLS_YAML_PATH: inventory,
      REGISTRY_ALLOWED_HOSTS: '127.0.0.1',
      DISCOVERY_TIMEOUT_MS: String(TIMEOUT_MS),
    },
  });
  const registry = (await gateway.registry.get())!;
  const rows: string[][] = [];
  const times: number[] = [];
  const heaps: number[] = [];
  for (let round = 0; round < WARM_UP + Number(values.refreshes); round++) {
    const started = performance.now();
    await registry.refresh();
    const ms = performance.now() - started;
    const heap = heapMb();
    const alive = registry.snapshot().items.filter((item) => item.alive).length;
    if (alive !== servers - hanging) throw new Error(`${alive} of ${servers - hanging} servers are alive.`);
    if (round >= WARM_UP) {
      times.push(ms);
      heaps.push(heap);
    }
    rows.push([String(round + 1), ms.toFixed(0), (ms / TIMEOUT_MS).toFixed(2), String(alive), heap.toFixed(1)]);
  }
  await gateway.close();
  printTable(
    `A refresh of ${servers} servers, ${hanging} that hang, ${garbage} with garbage; a timeout is ${TIMEOUT_MS} ms`,
    ['refresh', 'ms', 'timeouts', 'alive', 'heap MB'],
    rows,
  );
  // The best one: noise of a machine only ever adds.
  const timeouts = Math.min(...times) / TIMEOUT_MS;
  const growth = heaps.at(-1)! / heaps[0]! - 1;
  conclude(
    'probes',
    { servers, hanging, garbage, timeouts, worstMs: Math.max(...times), heapMb: heaps.at(-1), growth },
    [
      { name: 'timeouts of a refresh', value: timeouts, most: MAX_TIMEOUTS },
      { name: 'growth of the heap', value: growth, most: MAX_GROWTH },
    ],
  );
} finally {
  targets.kill();
  rmSync(folder, { recursive: true, force: true });
}
