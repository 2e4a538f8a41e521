import { isObject, type JsonValue } from '../../kernel/json.js';
import type { Prepared } from './prepare.js';
import type { Reading } from './reading.js';
import { ROLES_OF } from './roles.js';

/** What a definition says it is for: its name, its title and the first sentence of its description. */
export interface Purpose {
  /** Where it ends in the text, in characters. */
  readonly end: number;
  /** The parts that its concepts play. */
  readonly roles: ReadonlySet<number>;
  /** Its words, as {@link Reading.tokens} has them. */
  readonly words: ReadonlySet<number>;
  /** The annotations say that the tool only reads. */
  readonly isReadOnly: boolean;
}

/** Fields that name a tool. */
const NAMES = new Set(['/name', '/title']);

/** Reads what a definition is for. */
export function purposeOf(definition: JsonValue, { pieces, plains, plainStarts }: Prepared, reading: Reading): Purpose {
  let end = 0;
  for (const [at, { path }] of pieces.entries()) {
    const start = plainStarts[at]!;
    if (NAMES.has(path)) end = start + plains[at]!.length;
    else if (path === '/description') end = reading.sentences.find((sentence) => sentence.end > start)?.end ?? start;
    else break;
  }
  const roles = new Set<number>();
  const words = new Set<number>();
  for (const { concept, offset } of reading.mentions) {
    if (offset >= end) break;
    for (const role of ROLES_OF[concept]!) roles.add(role);
  }
  for (const { begin, first, last } of reading.sentences) {
    if (begin >= end) break;
    for (let at = first; at < last; at++) words.add(reading.tokens[at]!);
  }
  const hints = isObject(definition) ? definition['annotations'] : undefined;
  return { end, roles, words, isReadOnly: isObject(hints) && hints['readOnlyHint'] === true };
}
