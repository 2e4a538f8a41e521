// How far the estimate of tokens is off o200k, on the half of the corpus that it was not fitted on (ANS-6).
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { estimateTokens } from '../../src/kernel/tokens.js';
import { readTokenCorpus } from '../../test/support/token-corpus.js';
import { conclude, printTable, quantile, type Bound } from '../support/report.js';

const BOUNDS = { median: 0.1, p95: 0.25 };

const errors = new Map<string, number[]>();
for (const { kind, half, text } of readTokenCorpus()) {
  if (half === 'A') continue;
  const error = Math.abs(estimateTokens(text) / countTokens(text, { disallowedSpecial: new Set() }) - 1);
  for (const name of [kind, 'everything']) errors.set(name, [...(errors.get(name) ?? []), error]);
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const rows = [...errors].map(([kind, all]) => {
  const sorted = all.toSorted((a, b) => a - b);
  return { kind, texts: all.length, median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
});
printTable(
  'Estimate of tokens against o200k, held-out half',
  ['', 'texts', `off, median (≤ ${percent(BOUNDS.median)})`, `p95 (≤ ${percent(BOUNDS.p95)})`],
  rows.map(({ kind, texts, median, p95 }) => [kind, String(texts), percent(median), percent(p95)]),
);
const bounds = rows.flatMap(({ kind, median, p95 }): Bound[] => [
  { name: `${kind}, median`, value: median, most: BOUNDS.median },
  { name: `${kind}, p95`, value: p95, most: BOUNDS.p95 },
]);
conclude('token-estimate', { kinds: rows }, bounds);
