import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { define } from './select/functions.js';

/** How much of a value is shown. */
export interface Detail {
  /** Characters of a text. */
  readonly characters: number;
  /** Items of a list. */
  readonly items: number;
  /** Members of an object. */
  readonly members: number;
  readonly depth: number;
}

/** From much to little; the last is small for any value. */
export const DETAILS: readonly Detail[] = [
  { characters: 1000, items: 20, members: 60, depth: 8 },
  { characters: 300, items: 8, members: 40, depth: 6 },
  { characters: 120, items: 4, members: 25, depth: 5 },
  { characters: 60, items: 2, members: 15, depth: 4 },
  { characters: 24, items: 1, members: 8, depth: 2 },
];

/** A number as people read it. */
export const counted = (count: number): string => count.toLocaleString('en');

/** A text up to a length, with how much is missing; no character is cut in two. */
export function shortened(text: string, characters: number): string {
  if (text.length <= characters + 20) return text;
  const last = text.charCodeAt(characters - 1);
  const cut = last >= 0xd800 && last <= 0xdbff ? characters - 1 : characters;
  return `${text.slice(0, cut)}… (${counted(text.length - cut)} more characters)`;
}

/** A value with as much detail as asked for; what is left out is named where it was. */
export function prune(value: JsonValue, detail: Detail, depth = detail.depth): JsonValue {
  if (typeof value === 'string') return shortened(value, detail.characters);
  if (Array.isArray(value)) {
    if (value.length > 0 && depth === 0) return `… ${counted(value.length)} items`;
    const shown: JsonValue[] = [];
    for (let at = 0; at < value.length && at < detail.items; at++) shown.push(prune(value[at]!, detail, depth - 1));
    if (value.length > shown.length) shown.push(`… ${counted(value.length - shown.length)} more items`);
    return shown;
  }
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  if (keys.length > 0 && depth === 0) return `… ${counted(keys.length)} members`;
  const shown: JsonObject = {};
  for (let at = 0; at < keys.length && at < detail.members; at++) {
    define(shown, shortened(keys[at]!, detail.characters), prune(value[keys[at]!] ?? null, detail, depth - 1));
  }
  if (keys.length > detail.members) define(shown, '…', `${counted(keys.length - detail.members)} more members`);
  return shown;
}
