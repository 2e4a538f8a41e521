import { canonicalJson, isObject, type JsonValue } from '../../kernel/json.js';
import type { Edit } from './edit.js';

/** Longer lists are compared place by place. */
const MAX_CELLS = 250_000;

type Keys = Edit['keys'];

/** What both lists have in the same order, as pairs of places. */
function commonPlaces(before: readonly string[], after: readonly string[]): Array<readonly [number, number]> {
  if (before.length * after.length > MAX_CELLS) return [];
  const best = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      best[i]![j] = before[i] === after[j] ? best[i + 1]![j + 1]! + 1 : Math.max(best[i + 1]![j]!, best[i]![j + 1]!);
  const pairs: Array<readonly [number, number]> = [];
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    if (before[i] === after[j]) pairs.push([i++, j++]);
    else if (best[i + 1]![j]! >= best[i]![j + 1]!) i++;
    else j++;
  }
  return pairs;
}

function editsOfList(keys: Keys, before: readonly JsonValue[], after: readonly JsonValue[]): Edit[] {
  const pairs = commonPlaces(
    before.map((item) => canonicalJson(item)),
    after.map((item) => canonicalJson(item)),
  );
  const edits: Edit[][] = [];
  let [left, right] = [0, 0];
  for (const [i, j] of [...pairs, [before.length, after.length] as const]) {
    // Between two items that stay, items are changed one by one; what is left over goes or is new.
    const changed = Math.min(i - left, j - right);
    for (let step = 0; step < changed; step++)
      edits.push(editsBetween([...keys, left + step], before[left + step], after[right + step]!));
    for (let gone = left + changed; gone < i; gone++) edits.push([{ keys: [...keys, gone] }]);
    // Each is put before what stands at the place, so the last one comes first in the order from behind.
    for (let fresh = right + changed; fresh < j; fresh++)
      edits.push([{ keys: [...keys, left + changed], value: after[fresh]!, isNew: true }]);
    [left, right] = [i + 1, j + 1];
  }
  // From behind, so that the places before a change stay what they are.
  return edits.toReversed().flat();
}

/** The smallest edits, in the order in which they are made, that turn one value into another: what is the same in both is not touched. */
export function editsBetween(keys: Keys, before: unknown, after: JsonValue): Edit[] {
  if (before !== undefined && canonicalJson(before as JsonValue) === canonicalJson(after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length > 0 && after.length > 0)
    return editsOfList(keys, before as JsonValue[], after);
  if (!isObject(before) || !isObject(after)) return [{ keys, value: after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const value = after[name];
    return value === undefined ? [{ keys: [...keys, name] }] : editsBetween([...keys, name], before[name], value);
  });
}
