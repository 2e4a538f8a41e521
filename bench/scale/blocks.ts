import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordedServer } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { Tool } from '../../src/model/tool.js';
import { compileRules, normalizeTool } from '../../src/normalize/index.js';
import { createIndex, createKnowledgeSource } from '../../src/search/index.js';
import { createGrower } from './grow.js';

/** The longest time that reading tools in blocked the thread. */
export interface Block {
  readonly what: string;
  readonly tools: number;
  /** CPU time of the thread, which other programs do not stretch, and wall-clock time. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Tools of the one large server, of the largest that is allowed, and of the catalog whose servers come and go. */
const LARGE_SERVER = 1000;
const MAX_SERVER = 10_000;
const CHURNED = 10_000;

/** Servers of it that are replaced, one after the other. */
const REPLACED = 200;

/** Turns in which whatever is left to clear out is cleared out. */
const REST = 500;

/** Measures what filling an index and removing from it holds up. */
export async function measureBlocks(corpus: readonly RecordedServer[]): Promise<Block[]> {
  const rules = compileRules([]);
  const knowledge = createKnowledgeSource((reason) => console.error(reason));
  knowledge();
  function* read(server: string, definitions: ReadonlyArray<{ readonly definition: JsonObject }>): Generator<Tool> {
    for (const [i, { definition }] of definitions.entries()) {
      const named = { ...definition, name: `${String(definition['name'])}_${i}` };
      yield normalizeTool({ id: server, tags: [] }, named, rules);
    }
  }
  const all = corpus.flatMap(({ tools }) => tools);
  const large = Array.from({ length: LARGE_SERVER }, (_, i) => all[i % all.length]!);
  const fillLarge = async (): Promise<void> => {
    await createIndex(knowledge).fill('large', read('large', large));
  };
  const fillAll = async (): Promise<void> => {
    const index = createIndex(knowledge);
    for (const { server, tools } of corpus) await index.fill(server, read(server, tools));
  };
  const grower = createGrower(corpus);
  const largest = Array.from({ length: MAX_SERVER }, (_, i) => all[i % all.length]!);
  const grown = (id: number): Array<{ definition: JsonObject }> =>
    grower.grow(id).definitions.map((definition) => ({ definition }));
  const churned = createIndex(knowledge);
  let servers = 0;
  while (churned.size < CHURNED) {
    servers++;
    await churned.fill(`s${servers}`, read(`s${servers}`, grown(servers)));
  }
  const replaceMany = async (): Promise<void> => {
    for (let round = 1; round <= REPLACED; round++) {
      const server = `s${((round * 7) % servers) + 1}`;
      await churned.fill(server, read(server, grown(servers + round)));
    }
    await rest();
  };
  const removeHalf = async (): Promise<void> => {
    for (let id = 1; id <= servers; id += 2) churned.remove(`s${id}`);
    await rest();
  };
  const fillLargest = async (): Promise<void> => {
    await churned.fill('largest', read('largest', largest));
    await rest();
  };
  const removeLargest = async (): Promise<void> => {
    churned.remove('largest');
    await rest();
  };
  // The first time is a process that has just started, when the engine has compiled nothing yet.
  return [
    await watch('one large server, first', large.length, fillLarge),
    await watch('one large server, again', large.length, fillLarge),
    await watch('all servers', all.length, fillAll),
    await watch(`${REPLACED} servers replaced`, CHURNED, replaceMany),
    await watch('half of the servers removed at once', CHURNED, removeHalf),
    await watch('the largest server', largest.length, fillLargest),
    await watch('the largest server in its own place', largest.length, fillLargest),
    await watch('the largest server removed', largest.length, removeLargest),
  ];
}

async function rest(): Promise<void> {
  for (let turn = 0; turn < REST; turn++) await nextTurn();
}

/** Milliseconds that this thread has run; where the system does not say, those of the process with its collector. */
export function ownTime(): number {
  if (process.platform === 'linux') {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The longest time that a piece of work blocks the thread, in CPU time and in wall-clock time. */
export async function watch(what: string, tools: number, work: () => Promise<void>): Promise<Block> {
  let cpuMs = 0;
  let wallMs = 0;
  let turn = { cpu: ownTime(), wall: performance.now() };
  let working = true;
  const measure = (): void => {
    const now = { cpu: ownTime(), wall: performance.now() };
    cpuMs = Math.max(cpuMs, now.cpu - turn.cpu);
    wallMs = Math.max(wallMs, now.wall - turn.wall);
    turn = now;
    if (working) setImmediate(measure);
  };
  setImmediate(measure);
  await work();
  await nextTurn();
  working = false;
  return { what, tools, cpuMs, wallMs };
}
