// Two needs in one query (FIND-7): pairs of open fresh intents, joined in the ways people join them. Half A was in sight while the splitter was changed.
import { indexRecorded } from '../../src/gateway/reports/evaluation.js';
import { sha256 } from '../../src/kernel/hash.js';
import { createKnowledgeSource, goldOf, type Gold, type LabelledQuery } from '../../src/search/index.js';
import { conclude, printTable } from '../support/report.js';
import { readCorpus, readFresh } from './sets.js';

/** How two needs become one query. */
const JOINED: Readonly<Record<string, (first: string, second: string) => string>> = {
  'and then': (first, second) => `${bare(first)} and then ${small(second)}`,
  semicolon: (first, second) => `${bare(first)}; ${small(second)}`,
  also: (first, second) => `${bare(first)}. Also ${small(second)}`,
  'new line': (first, second) => `${first}\n${second}`,
  numbers: (first, second) => `1. ${first}\n2. ${second}`,
  and: (first, second) => `${bare(first)} and ${small(second)}`,
};

/** A need without the sign at its end, and as it stands within a sentence: words such as `I` and names keep their capital. */
function bare(text: string): string {
  return text.trim().replace(/[.!?]+$/, '');
}

function small(text: string): string {
  const [first = ''] = text.split(/\s/, 1);
  return /^[A-Z][a-z']*$/.test(first) && first !== 'I' ? first.toLowerCase() + text.slice(first.length) : text;
}

function numberOf(id: string): number {
  return Number.parseInt(sha256(id).slice(0, 8), 16);
}

/** Each intent of a half with one of another server. */
function pairs(intents: readonly LabelledQuery[]): Array<readonly [LabelledQuery, LabelledQuery]> {
  const serverOf = (query: LabelledQuery): string => [...goldOf(query)[0]!][0]!.split('::')[0]!;
  const order = intents.toSorted((a, b) => numberOf(`pair ${a.id}`) - numberOf(`pair ${b.id}`));
  return order.flatMap((one, i) => {
    const other = [...order.slice(i + 1), ...order.slice(0, i)].find((two) => serverOf(two) !== serverOf(one));
    return other ? [[one, other] as const] : [];
  });
}

const { index, idOf, find } = await indexRecorded(readCorpus(), createKnowledgeSource(console.error));
const goldFor = (query: LabelledQuery): Gold =>
  goldOf(query).map((group) => new Set([...group].map((id) => find(id) ?? id)));
const intents = [...readFresh('open'), ...readFresh('open-2')];
const percent = (part: number, whole: number): number => Math.round((1000 * part) / Math.max(1, whole)) / 10;

/** Whether each need, all its groups, is answered among some tools. */
const answers = (gold: Gold, came: readonly string[]): boolean =>
  gold.every((group) => came.some((id) => group.has(id)));

const rows = ['A', 'B'].flatMap((half, parity) => {
  const joined = pairs(intents.filter(({ id }) => numberOf(id) % 2 === parity));
  const alone = new Map(
    joined.flat().map(({ query }) => [query, index.search(query, { limit: 5 }).map(({ tool }) => idOf(tool))] as const),
  );
  const apart = joined.filter((pair) => pair.every((need) => answers(goldFor(need), alone.get(need.query)!))).length;
  return Object.entries(JOINED).map(([how, join]) => {
    const sums = { cut: 0, both5: 0, both10: 0, said: 0, right: 0 };
    for (const pair of joined) {
      const gold = pair.map(goldFor);
      const text = join(pair[0].query, pair[1].query);
      const hits = index.search(text, { limit: 10 });
      const five = index.search(text, { limit: 5 }).map(({ tool }) => idOf(tool));
      const needs = [...new Set(hits.flatMap(({ need }) => need ?? []))].toSorted(
        (a, b) => text.indexOf(a) - text.indexOf(b),
      );
      if (needs.length === 2) sums.cut++;
      if (gold.every((wanted) => answers(wanted, five))) sums.both5++;
      if (
        gold.every((wanted) =>
          answers(
            wanted,
            hits.map(({ tool }) => idOf(tool)),
          ),
        )
      )
        sums.both10++;
      for (const { tool, need } of hits) {
        const answered = gold.findIndex((wanted) => wanted.some((group) => group.has(idOf(tool))));
        if (answered < 0 || needs.length !== 2) continue;
        sums.said++;
        if (needs[answered] === need) sums.right++;
      }
    }
    return {
      half,
      how,
      pairs: joined.length,
      cut: percent(sums.cut, joined.length),
      both5: percent(sums.both5, joined.length),
      both10: percent(sums.both10, joined.length),
      apart: percent(apart, joined.length),
      right: percent(sums.right, sums.said),
    };
  });
});

printTable(
  'Two needs in one query, in % of the pairs: cut in two, both answered among the first 5 and 10 hits, the same asked one by one (5 hits each), hits put down to the right need',
  ['half', 'joined by', 'pairs', 'cut', 'both in 5', 'both in 10', 'one by one', 'right need'],
  rows.map((row) => Object.values(row).map(String)),
);
conclude('pairs', { rows }, []);
