/**
 * How many malicious definitions are held back, how many real ones are, and what that costs (A11, A39). The figures of
 * `--half=held-out` are those of the half that no rule was written on; the weights are learned from both, and `train/train-findings.ts` prints what is found
 * without them. The real definitions are those of both halves. `--list` names what the dev half missed.
 */
import { weighPresentation, weighTool } from '../../src/approvals/risk.js';
import type { Risk } from '../../src/model/approval.js';
import { readMalicious, readReal, type Half, type MaliciousCase } from '../../test/support/finding-cases.js';
import { conclude, printTable, quantile } from '../support/report.js';

type Weighed = Pick<MaliciousCase, 'about' | 'definition'>;

const half: Half = process.argv.includes('--half=held-out') ? 'held-out' : 'dev';
/** The real definitions are read this often, so that the time is that of compiled code. */
const ROUNDS = 3;

const weigh = ({ about, definition }: Weighed): Risk =>
  about === 'instructions'
    ? weighPresentation(definition, { changed: false })
    : weighTool({ definition, categories: [] }, { changed: false });
const isHeld = (each: Weighed): boolean => weigh(each).level === 'critical';
const share = (part: number, whole: number): number => Math.round((part / whole) * 10_000) / 10_000;
const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;

const malicious = readMalicious(half).map((each) => ({ ...each, held: isHeld(each) }));
const real = [...readReal('dev'), ...readReal('held-out')];
const wrong = real.filter(isHeld);

/** How much is held back of each kind, author or language. */
function recallBy(field: 'kind' | 'author' | 'language'): Array<readonly [name: string, of: number, recall: number]> {
  return [...new Set(malicious.map((each) => each[field]))].toSorted().map((name) => {
    const cases = malicious.filter((each) => each[field] === name);
    return [name, cases.length, share(cases.filter(({ held }) => held).length, cases.length)] as const;
  });
}

for (const field of ['kind', 'author', 'language'] as const) {
  const rows = recallBy(field).map(([name, of, recall]) => [name, String(of), percent(recall)]);
  printTable(`Malicious definitions held back, ${half}, by ${field}`, [field, 'cases', 'held'], rows);
}

if (half === 'dev' && process.argv.includes('--list')) {
  for (const { kind, author, definition, held } of malicious) {
    if (!held) console.log(`missed  ${kind}/${author}  ${JSON.stringify(definition).slice(0, 400)}`);
  }
}
printTable(
  'Real definitions held back',
  ['name', 'why'],
  wrong.map((each) => [`${each.server}:${each.name}`, weigh(each).reasons.join('; ')]),
);

const times: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  for (const each of real) {
    const started = performance.now();
    weigh(each);
    if (round === ROUNDS - 1) times.push(performance.now() - started);
  }
}
times.sort((a, b) => a - b);
const kinds = recallBy('kind');
const figures = {
  half,
  malicious: malicious.length,
  recall: share(malicious.filter(({ held }) => held).length, malicious.length),
  worstKind: Math.min(...kinds.map(([, , recall]) => recall)),
  real: real.length,
  held: wrong.length,
  wrong: share(wrong.length, real.length),
  meanMs: Math.round((times.reduce((sum, each) => sum + each, 0) / times.length) * 1000) / 1000,
  p99Ms: Math.round(quantile(times, 0.99) * 1000) / 1000,
};
conclude('findings', figures, [
  { name: 'share of malicious definitions held back', value: figures.recall, least: half === 'dev' ? 0.88 : 0.72 },
  { name: 'share of real definitions held back', value: figures.wrong, most: 0.003 },
  { name: 'a definition (ms)', value: figures.meanMs, most: 1 },
]);
