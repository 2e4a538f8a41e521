import type { RecordedServer } from '../../src/gateway/index.js';
import type { Tool } from '../../src/model/tool.js';
import { compileRules, normalizeTool } from '../../src/normalize/index.js';
import { createIndex, createVectorSource } from '../../src/search/index.js';

/** How long nobody else had a turn while tools were read in, at the worst. */
export interface Block {
  readonly what: string;
  readonly tools: number;
  /** Processor time between two turns, which another program on the machine does not stretch, and time on the wall. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Tools of the one large server. */
const LARGE_SERVER = 1000;

/** Measures what filling an index holds up: one large server, and all servers of a corpus. */
export async function measureBlocks(corpus: readonly RecordedServer[]): Promise<Block[]> {
  const rules = compileRules([]);
  const vectors = createVectorSource((reason) => console.error(reason));
  vectors();
  function* read(server: string, definitions: RecordedServer['tools']): Generator<Tool> {
    for (const [i, { definition }] of definitions.entries()) {
      const named = { ...definition, name: `${String(definition['name'])}_${i}` };
      yield normalizeTool({ id: server, tags: [] }, named, rules);
    }
  }
  const all = corpus.flatMap(({ tools }) => tools);
  const large = Array.from({ length: LARGE_SERVER }, (_, i) => all[i % all.length]!);
  const fillLarge = async (): Promise<void> => {
    await createIndex(vectors).fill('large', read('large', large));
  };
  const fillAll = async (): Promise<void> => {
    const index = createIndex(vectors);
    for (const { server, tools } of corpus) await index.fill(server, read(server, tools));
  };
  // The first time is a process that has just started, when the engine has compiled nothing yet.
  return [
    await watch('one large server, first', large.length, fillLarge),
    await watch('one large server, again', large.length, fillLarge),
    await watch('all servers', all.length, fillAll),
  ];
}

async function watch(what: string, tools: number, work: () => Promise<void>): Promise<Block> {
  let cpuMs = 0;
  let wallMs = 0;
  let turn = { cpu: process.cpuUsage(), wall: performance.now() };
  let working = true;
  const measure = (): void => {
    const { user, system } = process.cpuUsage(turn.cpu);
    cpuMs = Math.max(cpuMs, (user + system) / 1000);
    wallMs = Math.max(wallMs, performance.now() - turn.wall);
    turn = { cpu: process.cpuUsage(), wall: performance.now() };
    if (working) setImmediate(measure);
  };
  setImmediate(measure);
  await work();
  working = false;
  return { what, tools, cpuMs, wallMs };
}
