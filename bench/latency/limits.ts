import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { openGateway } from '../../src/app/open-gateway.js';
import { compileRules, normalizeTool } from '../../src/normalize/index.js';
import { createIndex, createKnowledgeSource, type KnowledgeSource } from '../../src/search/index.js';
import { readCorpus } from '../retrieval/sets.js';
import { ownTime, watch } from '../scale/blocks.js';
import { createGrower, type Grower } from '../scale/grow.js';
import { hostileQueries } from '../scale/hostile.js';

/** What must hold whatever comes: a reload, the worst query, reading everything in. */
export interface Limits {
  /** A reload under new rules, of a gateway that knows a thousand tools (CFG-6). */
  readonly reloadMs: number;
  /** The slowest of the hostile queries over ten thousand tools, in processor time (FIND-4). */
  readonly hostileQueryCpuMs: number;
  /** The longest time that the event loop was blocked while the whole corpus was read, in processor time (R18). */
  readonly heldUpCpuMs: number;
}

const RELOADS = 5;
const SEARCHED = 10_000;
/** Times every query is asked; the best of them is what the query itself costs. */
const ROUNDS = 3;

async function measureReload(config: object, folder: string): Promise<number> {
  const file = join(folder, 'reloaded.config.json');
  const write = (turn: number): void =>
    writeFileSync(file, JSON.stringify({ ...config, toolRules: [{ pattern: `*_${turn}`, enabled: false }] }));
  write(0);
  const gateway = await openGateway({ config: file, stateDir: join(folder, 'state'), learnAtStart: false });
  try {
    await gateway.ready();
    const times: number[] = [];
    for (let turn = 1; turn <= RELOADS; turn++) {
      write(turn);
      const began = performance.now();
      const { changed } = await gateway.reload();
      times.push(performance.now() - began);
      if (!changed) throw new Error('The config was not read again.');
    }
    const known = (await gateway.tools.list('huge', { includeDisabled: true })).length;
    if (known !== 1000) throw new Error(`The reload kept ${known} tools of 1,000.`);
    return Math.min(...times);
  } finally {
    await gateway.close();
  }
}

const rules = compileRules([]);

function measureHostile(grower: Grower, knowledge: KnowledgeSource): number {
  const index = createIndex(knowledge);
  for (let id = 1; index.size < SEARCHED; id++) {
    const { server, definitions } = grower.grow(id);
    index.replace(
      server,
      definitions.map((one) => normalizeTool({ id: server, tags: [] }, one, rules)),
    );
  }
  const timed = (query: string): number => {
    const began = ownTime();
    index.search(query);
    return ownTime() - began;
  };
  const best = (query: string): number => Math.min(...Array.from({ length: ROUNDS }, () => timed(query)));
  return Math.max(...hostileQueries(grower).map(best));
}

async function measureHeldUp(knowledge: KnowledgeSource): Promise<number> {
  const corpus = readCorpus();
  const index = createIndex(knowledge);
  const { cpuMs } = await watch('the whole corpus', 0, async () => {
    for (const { server, tools } of corpus) {
      await index.fill(
        server,
        (function* () {
          for (const { definition } of tools) yield normalizeTool({ id: server, tags: [] }, definition, rules);
        })(),
      );
    }
  });
  return cpuMs;
}

/** Measures them, over a state in which both servers of the config are known. */
export async function measureLimits(config: object, folder: string): Promise<Limits> {
  const reloadMs = await measureReload(config, folder);
  const knowledge = createKnowledgeSource((reason) => console.error(reason));
  // Loaded once and kept, as it is in a gateway.
  knowledge();
  const heldUpCpuMs = await measureHeldUp(knowledge);
  return { reloadMs, heldUpCpuMs, hostileQueryCpuMs: measureHostile(createGrower(readCorpus()), knowledge) };
}
