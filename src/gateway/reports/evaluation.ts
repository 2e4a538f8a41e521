import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LoadedConfig } from '../../config/index.js';
import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { hashJson } from '../../kernel/hash.js';
import { addressOf } from '../../kernel/ids.js';
import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { cooperatively } from '../../kernel/async/cooperative.js';
import type { Store } from '../../model/store.js';
import type { Tool } from '../../model/tool.js';
import type { EvaluationReport, JudgedQuery, Loss, RecordedServer } from '../contract/evaluation.js';
import { createDemotion } from '../verbs/answer-search.js';
import { compileRules, normalizeTool } from '../../normalize/index.js';
import {
  createIndex,
  type KnowledgeSource,
  goldOf,
  judge,
  JUDGED_RANKS,
  summariseRun,
  type Evaluation,
  type LabelledQuery,
  type ToolIndex,
} from '../../search/index.js';

/** Tools in an index, and the names labelled queries have for them. */
export interface Searched {
  readonly index: ToolIndex;
  idOf(tool: Tool): string;
  /** The id that is meant by a text; `undefined` when there is no such offered tool. */
  find(id: string): string | undefined;
}

/** What an evaluation needs of the gateway. */
interface EvaluationSources {
  readonly index: ToolIndex;
  readonly loaded: LoadedConfig;
  readonly store: Store;
  readonly clock: Clock;
  readonly knowledge?: KnowledgeSource;
}

const SPACE = 'eval';

/** Queries asked before the clock counts, so that a run does not measure the warming up of the engine. */
const UNTIMED = 200;

/** Puts recorded lists into an index of their own, the way learned ones go into the catalog. */
export async function indexRecorded(
  servers: readonly RecordedServer[],
  knowledge?: KnowledgeSource,
): Promise<Searched> {
  const rules = compileRules([]);
  const index = createIndex(knowledge);
  const ids = new Map<Tool, string>();
  for (const { server, title, name, tools } of servers) {
    const normalized = function* (): Generator<Tool> {
      for (const { id, definition } of tools) {
        const tool = normalizeTool({ id: server, tags: [] }, definition, rules);
        ids.set(tool, id);
        yield tool;
      }
    };
    await index.fill(server, normalized(), { title, name });
    await nextTurn();
  }
  return searched(index, (tool) => ids.get(tool) ?? addressOf(tool.server, tool.name));
}

/** Measures how well tools are found: among recorded ones, or else among those of an index. */
export async function evaluate(
  queries: readonly LabelledQuery[],
  tools: readonly RecordedServer[] | undefined,
  { index, loaded, store, clock, knowledge }: EvaluationSources,
): Promise<EvaluationReport> {
  const among = tools
    ? await indexRecorded(tools, knowledge)
    : await searched(index, ({ server, name }) => addressOf(server, name));
  const report = await evaluateQueries(queries, among, clock);
  // Recorded tools are the same when their content is; one's own catalog stays itself while it changes.
  const subject = tools ? subjectOf(among) : `own ${loaded.path ?? loaded.source}`;
  return { ...report, before: await exchangeFigures(store, queries, subject, report.figures) };
}

/** An index whose tools labelled queries know by `idOf`; `server:tool` and `server::tool` are understood too. */
async function searched(index: ToolIndex, idOf: (tool: Tool) => string): Promise<Searched> {
  const spellings = new Map<string, string>();
  const offered = index.tools().filter(({ status }) => status === 'enabled');
  await cooperatively(offered, (tool) => {
    spellings.set(addressOf(tool.server, tool.name), idOf(tool));
    spellings.set(`${tool.server}::${tool.name}`, idOf(tool));
  });
  // An exact id wins over another tool's second spelling.
  await cooperatively(offered, (tool) => spellings.set(idOf(tool), idOf(tool)));
  // Measured is what agents are shown: tools with findings give way.
  const demotion = createDemotion();
  const ordered: ToolIndex = Object.assign(Object.create(index) as ToolIndex, {
    search: (...asked: Parameters<ToolIndex['search']>) => demotion.order(index.search(...asked)),
  });
  return { index: ordered, idOf, find: (id) => spellings.get(id) };
}

/** Asks every query and judges the answers. */
async function evaluateQueries(
  queries: readonly LabelledQuery[],
  { index, idOf, find }: Searched,
  clock: Clock,
): Promise<Omit<EvaluationReport, 'before'>> {
  if (index.size === 0) {
    throw new ToolscoutError('NOTHING_FOUND', 'There are no tools to search.', {
      suggestion: 'Configure servers and run toolscout discover, or name recorded tools with --tools.',
    });
  }
  const ask = (query: string): Tool[] => index.search(query, { limit: JUDGED_RANKS }).map(({ tool }) => tool);
  // A query is work: before each of them others have their turn.
  for (const { query } of queries.slice(0, UNTIMED)) {
    await nextTurn();
    ask(query);
  }

  const missing = new Set<string>();
  const judged: JudgedQuery[] = [];
  const times: number[] = [];
  for (const labelled of queries) {
    await nextTurn();
    const began = clock.monotonic();
    const tools = ask(labelled.query);
    times.push(clock.monotonic() - began);
    const came = tools.map(idOf);
    const gold = goldOf(labelled).map((group) => [...group].map((id) => find(id) ?? (missing.add(id), id)));
    const quality = judge(
      came,
      gold.map((group) => new Set(group)),
    );
    const losses = quality.ndcg10 > 1 - 1e-9 ? [] : lossesOf(labelled.query, gold, tools, { index, idOf });
    judged.push({ id: labelled.id, query: labelled.query, wanted: gold, came, quality, losses });
  }
  const qualities = judged.map(({ quality }) => quality);
  return { figures: summariseRun(qualities, times), queries: judged, missing: [...missing], tools: index.size };
}

/** Why each group that does not stand as high as it could does not. */
function lossesOf(
  query: string,
  gold: ReadonlyArray<readonly string[]>,
  came: readonly Tool[],
  { index, idOf }: Pick<Searched, 'index' | 'idOf'>,
): Loss[] {
  const ids = came.map(idOf);
  const low = gold.filter((group) => !ids.slice(0, gold.length).some((id) => group.includes(id)));
  if (low.length === 0) return [];
  const candidates = new Map(index.candidates(query).tools.map((tool) => [idOf(tool), tool]));
  const first = came.find((tool) => !gold.some((group) => group.includes(idOf(tool))));
  return low.map((group) => {
    const wanted = group.map((id) => candidates.get(id)).filter((tool) => tool !== undefined);
    if (wanted.length === 0) return 'not among candidates';
    const isTwin = wanted.some((tool) => tool.name === first?.name || tool.server === first?.server);
    return isTwin ? 'near-twin first' : 'outranked';
  });
}

/** A text that is equal for equal recorded tools, and for no others. */
function subjectOf({ index, idOf }: Searched): string {
  return hashJson(index.tools().map((tool) => [idOf(tool), tool.hash]));
}

/** Keeps the figures of a run in the store; answers those of the run before, if there was one. */
async function exchangeFigures(
  store: Store,
  queries: readonly LabelledQuery[],
  subject: string,
  figures: Evaluation,
): Promise<Evaluation | undefined> {
  const key = hashJson([queries as unknown as JsonValue, subject]);
  const before = await store.get(SPACE, key);
  await store.put(SPACE, key, figures as unknown as JsonObject);
  return asEvaluation(before?.value);
}

/** Stored figures; another version's shape is ignored. */
function asEvaluation(value: JsonValue | undefined): Evaluation | undefined {
  if (!isObject(value) || !isObject(value['recall'])) return undefined;
  const { recall, ...rest } = value;
  const numbers = [rest['n'], rest['hit1'], rest['ndcg10'], rest['mrr'], rest['p50Ms'], rest['p95Ms']];
  const complete = [...numbers, ...['1', '3', '5', '10'].map((cut) => recall[cut])].every(
    (figure) => typeof figure === 'number',
  );
  return complete ? (value as unknown as Evaluation) : undefined;
}
