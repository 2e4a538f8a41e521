// What an agent pays: the menu, the instructions and the answers, against loading every tool (META-2, META-8, META-9).
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { instructionsFor, META_TOOLS, metaToolsNaming } from '../../src/front/mcp/menu/meta-menu.js';
import { callMetaTool } from '../../src/front/mcp/menu/meta-tools.js';
import { SPLIT_META_TOOLS, splitInstructions } from '../../src/front/mcp/menu/split-reads.js';
import { DEFAULT_HITS } from '../../src/model/hit.js';
import { openOfflineGateway, readRecordedServers, type RecordedServer } from '../../test/support/offline-gateway.js';
import { readCorpus } from '../../test/support/recorded-servers.js';
import { conclude, printTable, quantile, type Bound } from '../support/report.js';

/** Upper bounds in tokens (o200k); the share is of the tool's lean schema. */
const BOUNDS = {
  menu: 450,
  menuAndInstructions: 600,
  instructions: 150,
  coverage: 60,
  defaultHits: 800,
  fiveHits: 400,
  detailsShare: 1.1,
};

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const queries = readFileSync(path('../../test/fixtures/real-intents.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => (JSON.parse(line) as { query: string }).query);

const textOf = (result: object): string => (result as { content: Array<{ text: string }> }).content[0]!.text;

/** Tokens that the README states, and everything else that is measured. */
interface Figures {
  readonly everything: number;
  readonly menu: number;
  readonly instructions: number;
  readonly defaultHits: { readonly p50: number };
  readonly [name: string]: unknown;
}

/** Measures one catalog, prints its table and returns its figures and bounds. */
async function measure(servers: readonly RecordedServer[]): Promise<{ figures: Figures; bounds: Bound[] }> {
  const { gateway } = await openOfflineGateway(servers);
  await gateway.ready();
  const ask = async (name: string, args: object): Promise<number> =>
    countTokens(textOf(await callMetaTool(gateway, name, args as never, {})));

  const menu = countTokens(JSON.stringify({ tools: META_TOOLS }));
  const naming = countTokens(JSON.stringify({ tools: metaToolsNaming(gateway.internal.coverage()) }));
  const coverage = countTokens(gateway.internal.coverage());
  const instructions = countTokens(instructionsFor(gateway.internal.coverage()));

  const split =
    countTokens(JSON.stringify({ tools: metaToolsNaming(gateway.internal.coverage(), SPLIT_META_TOOLS) })) +
    countTokens(splitInstructions(gateway.internal.coverage(), true));

  const tokensOfHits = async (args: object): Promise<{ p50: number; p95: number; max: number }> => {
    const answers: number[] = [];
    for (const query of queries) answers.push(await ask('search_tools', { query, ...args }));
    const sorted = answers.toSorted((a, b) => a - b);
    return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), max: sorted.at(-1)! };
  };
  const defaultHits = await tokensOfHits({});
  const fiveHits = await tokensOfHits({ limit: 5 });

  let everything = 0;
  let lean = 0;
  const shares: number[] = [];
  for (const { id, tools } of servers) {
    for (const tool of tools) {
      const { name, description, inputSchema } = tool;
      const leanTokens = countTokens(JSON.stringify({ name, description, inputSchema }));
      everything += countTokens(JSON.stringify(tool));
      lean += leanTokens;
      shares.push((await ask('get_tool_details', { server: id, tool: String(name) })) / leanTokens);
    }
  }
  const sortedShares = shares.toSorted((a, b) => a - b);
  const serverList = await ask('list_mcp_servers', {});
  await gateway.close();

  const detailsShare = { p50: quantile(sortedShares, 0.5), max: sortedShares.at(-1)! };
  const toolCount = shares.length;
  const ratio = (menu + instructions) / everything;

  printTable(
    `Tokens (o200k), ${servers.length} servers, ${toolCount} tools, ${queries.length} queries`,
    ['', 'tokens', 'bound'],
    [
      ['load everything, full definitions', String(everything), ''],
      ['load everything, name + description + input', String(lean), ''],
      ['menu of five', String(menu), `≤ ${BOUNDS.menu}`],
      ['instructions', String(instructions), `≤ ${BOUNDS.instructions}`],
      ['  of which the line naming what is behind', String(coverage), `≤ ${BOUNDS.coverage}`],
      ['menu + instructions', String(menu + instructions), `≤ ${BOUNDS.menuAndInstructions}`],
      ['  where the menu names what is behind', String(naming + instructions), `≤ ${BOUNDS.menuAndInstructions}`],
      ['  with splitReads', String(split), `≤ ${BOUNDS.menuAndInstructions}`],
      ['  as a share of everything', `${(ratio * 100).toFixed(3)} %`, ''],
      [`a search (${DEFAULT_HITS} hits, the default), p50 / p95`, `${defaultHits.p50} / ${defaultHits.p95}`, ''],
      ['  largest', String(defaultHits.max), `≤ ${BOUNDS.defaultHits}`],
      ['five hits, p50 / p95', `${fiveHits.p50} / ${fiveHits.p95}`, ''],
      ['five hits, largest', String(fiveHits.max), `≤ ${BOUNDS.fiveHits}`],
      ['details / lean schema, p50', detailsShare.p50.toFixed(3), ''],
      ['details / lean schema, largest', detailsShare.max.toFixed(3), `≤ ${BOUNDS.detailsShare}`],
      ['list of all servers', String(serverList), ''],
    ],
  );
  const figures = {
    servers: servers.length,
    tools: toolCount,
    everything,
    lean,
    menu,
    naming,
    split,
    instructions,
    coverage,
    defaultHits,
    fiveHits,
    detailsShare,
    serverList,
  };
  const bounds = [
    { name: 'menu', value: menu, most: BOUNDS.menu },
    { name: 'instructions', value: instructions, most: BOUNDS.instructions },
    { name: 'coverage line', value: coverage, most: BOUNDS.coverage },
    { name: 'menu + instructions', value: menu + instructions, most: BOUNDS.menuAndInstructions },
    { name: 'naming menu + instructions', value: naming + instructions, most: BOUNDS.menuAndInstructions },
    { name: 'menu + instructions with splitReads', value: split, most: BOUNDS.menuAndInstructions },
    { name: 'largest answer of a search', value: defaultHits.max, most: BOUNDS.defaultHits },
    { name: 'largest five-hit answer', value: fiveHits.max, most: BOUNDS.fiveHits },
    { name: 'details / lean schema', value: detailsShare.max, most: BOUNDS.detailsShare },
  ];
  return { figures, bounds };
}

const few = await measure(readRecordedServers(path('../../test/fixtures/catalog')));
const many = await measure(readCorpus());
conclude('tokens', { few: few.figures, ...many.figures }, [...few.bounds, ...many.bounds]);

const readme = readFileSync(path('../../README.md'), 'utf8');
const broken = (what: string): void => {
  console.error(`BROKEN: README.md ${what}`);
  process.exitCode = 1;
};
for (const { everything, menu, instructions } of [few.figures, many.figures]) {
  for (const figure of [everything, menu + instructions].map((tokens) => `${tokens.toLocaleString('en')} tokens`)) {
    if (!readme.includes(figure)) broken(`does not state "${figure}"`);
  }
}
// Stated as "about": a change of the ranking moves the median by a few tokens.
const searches = [...readme.matchAll(/about (\d+) tokens/g)].map((match) => Number(match[1]));
for (const [at, { p50 }] of [few.figures.defaultHits, many.figures.defaultHits].entries()) {
  const stated = searches[at] ?? Number.NaN;
  if (!(Math.abs(stated - p50) <= 0.05 * p50)) broken(`states ${stated} tokens for one search; measured: ${p50}`);
}
