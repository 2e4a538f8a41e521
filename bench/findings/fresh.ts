/**
 * The second labelled set of definitions (A11), and `--half=opened` for its half that was sealed until 2026-11-17. The shipped weights are learned from
 * both; `train/train-findings.ts` prints what is found of each set without it. `--half=panel`, `--half=verdict` and `--half=assize` are sets that nothing was made from:
 * their figures are printed, their definitions are not. `--list` names what the dev half missed and held wrongly.
 */
import { weighPresentation, weighTool } from '../../src/approvals/risk.js';
import { readFresh, type FreshHalf, type MaliciousCase } from '../../test/support/finding-cases.js';
import { conclude, printTable } from '../support/report.js';

const half: FreshHalf =
  (['opened', 'panel', 'verdict', 'assize'] as const).find((each) => process.argv.includes(`--half=${each}`)) ?? 'dev';
const isUnseen = half === 'panel' || half === 'verdict' || half === 'assize';
// These sets miss the aim of 0.85. Their floors are the figures of the last day they were asked: they show a loss, and judge nothing.
const FLOORS = {
  dev: { held: 0.85, wrong: 0.07 },
  opened: { held: 0.85, wrong: 0.07 },
  panel: { held: 0.74, wrong: 0.09 },
  verdict: { held: 0.76, wrong: 0.13 },
  assize: { held: 0.67, wrong: 0.14 },
}[half];
const isHeld = ({ about, definition }: Pick<MaliciousCase, 'about' | 'definition'>): boolean =>
  (about === 'instructions'
    ? weighPresentation(definition, { changed: false })
    : weighTool({ definition, categories: [] }, { changed: false })
  ).level === 'critical';
const share = (part: number, whole: number): number => Math.round((part / whole) * 10_000) / 10_000;
const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;

const { malicious, benign } = readFresh(half);
const judged = malicious.map((each) => ({ ...each, held: isHeld(each) }));
const wrong = benign.filter(isHeld);

const kinds = [...new Set(judged.map(({ kind }) => kind))].toSorted().map((kind) => {
  const cases = judged.filter((each) => each.kind === kind);
  return { kind, cases: cases.length, recall: share(cases.filter(({ held }) => held).length, cases.length) };
});
printTable(
  `Malicious definitions held back, ${isUnseen ? `${half} set` : `second set, ${half}`}`,
  ['kind', 'cases', 'held'],
  kinds.map(({ kind, cases, recall }) => [kind, String(cases), percent(recall)]),
);
if (half === 'dev' && process.argv.includes('--list')) {
  for (const { kind, author, definition, held } of judged) {
    if (!held) console.log(`missed  ${kind}/${author}  ${JSON.stringify(definition).slice(0, 400)}`);
  }
}
if (!isUnseen) {
  printTable(
    `Harmless definitions held back, second set, ${half}`,
    ['definition'],
    wrong.map(({ definition }) => [JSON.stringify(definition).slice(0, 200)]),
  );
}
const figures = {
  half,
  malicious: judged.length,
  recall: share(judged.filter(({ held }) => held).length, judged.length),
  worstKind: Math.min(...kinds.map(({ recall }) => recall)),
  benign: benign.length,
  wrong: share(wrong.length, benign.length),
};
conclude('findings-fresh', figures, [
  { name: 'share of malicious definitions held back', value: figures.recall, least: FLOORS.held },
  { name: 'share of harmless definitions held back', value: figures.wrong, most: FLOORS.wrong },
]);
