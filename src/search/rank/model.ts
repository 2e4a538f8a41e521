import type { ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonValue } from '../../kernel/json.js';
import { brokenAsset } from '../../kernel/package-file.js';
import { createModel, FEATURES, type RankingModel } from './rank.js';

/** The format of the file. */
export const MODEL_VERSION = 1;

/** Larger weights would leave the range of the numbers that are added up. */
const LARGEST_WEIGHT = 1e6;

/** Reads the file of weights: `{version, weights: {feature: number}}`; a feature without one counts nothing. */
export function readModel(bytes: Uint8Array): RankingModel {
  const file = parse(bytes);
  if (!isObject(file) || file['version'] !== MODEL_VERSION) throw damaged(`its version is not ${MODEL_VERSION}`);
  const given = file['weights'];
  if (!isObject(given)) throw damaged('it holds no weights');
  const names = new Set(FEATURES.map(({ name }) => name));
  const unknown = Object.keys(given).find((name) => !names.has(name));
  if (unknown !== undefined) throw damaged(`there is no feature "${unknown}"`);
  const weights = FEATURES.map(({ name }) => given[name] ?? 0);
  if (!weights.every((weight): weight is number => Number.isFinite(weight))) throw damaged('a weight is not a number');
  if (weights.some((weight) => Math.abs(weight) > LARGEST_WEIGHT)) throw damaged('a weight is too large');
  if (weights.every((weight) => weight === 0)) throw damaged('all weights are 0');
  return createModel(Float32Array.from(weights));
}

function parse(bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
  } catch (thrown) {
    throw damaged('it is not JSON', thrown);
  }
}

function damaged(reason: string, cause?: unknown): ToolscoutError {
  return brokenAsset('ranking.json', `damaged: ${reason}`, cause);
}
