import { isObject, type JsonValue } from '../../kernel/json.js';

/** Where in a definition a text stands: its name, the name of a field, something to be read, or a value. */
export type PieceRole = 'name' | 'key' | 'prose' | 'value';

/** One text of a definition. */
export interface Piece {
  /** JSON pointer. */
  readonly path: string;
  readonly role: PieceRole;
  readonly text: string;
}

/** The texts of one definition, in the order in which they stand there. */
export interface Texts {
  readonly pieces: readonly Piece[];
  /** There is more than is read. */
  readonly isCut: boolean;
}

/** Characters of one definition that are read; discovery lets no larger one through. */
const MAX_TEXT = 256 * 1024;
/** Values that are looked at; no real definition comes near. */
const MAX_VALUES = 400_000;
/** Texts that are read. */
const MAX_PIECES = 20_000;

/** Names of fields that say nothing: they stand in every definition. They are read in this order. */
const STRUCTURE = new Map(
  (
    'name title description text inputSchema outputSchema annotations icons type properties required items enum default examples ' +
    'const anyOf oneOf allOf not additionalProperties $schema $ref $defs definitions format pattern minimum maximum minLength ' +
    'maxLength minItems maxItems uniqueItems nullable arguments uri uriTemplate mimeType instructions serverInfo version ' +
    'capabilities readOnlyHint destructiveHint idempotentHint openWorldHint _meta execution $comment'
  )
    .split(' ')
    .map((name, place) => [name, place]),
);
/** Fields that people and models read as text. */
const PROSE = new Set(['title', 'description', '$comment', 'instructions', 'message', 'text', 'summary']);
const NAMES = new Set(['name']);
/** Values of `type` that a schema knows; they would only stand between the parts of a split sentence. */
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/** The flags of England, Scotland and Wales. */
const FLAGS =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Definitions that differ by the order of their keys alone have one hash, so they have the same findings (A12). */
function compareKeys(a: string, b: string): number {
  const [first = Infinity, second = Infinity] = [STRUCTURE.get(a), STRUCTURE.get(b)];
  if (first !== second) return first - second;
  return a < b ? -1 : a > b ? 1 : 0;
}

function roleOf(key: string): PieceRole {
  if (PROSE.has(key)) return 'prose';
  return NAMES.has(key) ? 'name' : 'value';
}

/** Every text in a value, names of fields included; iterative and bounded, whatever the depth and the size (A25, A28). */
export function textsOf(value: JsonValue): Texts {
  const pieces: Piece[] = [];
  const stack: Array<{ value: JsonValue | undefined; path: string; key: string; isKey?: boolean }> = [
    { value, path: '', key: '' },
  ];
  let room = MAX_TEXT;
  let looked = 0;
  let isCut = false;
  const add = (path: string, role: PieceRole, written: string): void => {
    // Three flags are written with tag characters, and nothing else is.
    const text = written.includes('\u{1f3f4}') ? written.replace(FLAGS, '\u{1f3f4}') : written;
    if (text.length > room) isCut = true;
    // The end of a long text is read as well: padding must not push an order out of sight.
    const kept = text.length <= room ? text : `${text.slice(0, room >> 1)}\n${text.slice(-(room >> 1))}`;
    room -= Math.min(room, text.length);
    if (kept !== '') pieces.push({ path, role, text: kept });
  };
  while (stack.length > 0) {
    if (room <= 0 || pieces.length >= MAX_PIECES || ++looked > MAX_VALUES) return { pieces, isCut: true };
    const { value: next, path, key, isKey } = stack.pop()!;
    if (isKey) add(path, 'key', key);
    else if (typeof next === 'string') {
      if (key !== 'type' || !TYPES.has(next)) add(path, roleOf(key), next);
    } else if (Array.isArray(next)) {
      // A list too long to be looked at is cut without being copied.
      const end = Math.min(next.length, MAX_VALUES);
      for (let at = end - 1; at >= 0; at--) {
        const child = next[at];
        if (typeof child === 'string' || typeof child === 'object')
          stack.push({ value: child, path: `${path}/${at}`, key });
      }
    } else if (isObject(next)) {
      const keys = Object.keys(next).toSorted(compareKeys);
      for (let at = keys.length - 1; at >= 0; at--) {
        const name = keys[at]!;
        const child = next[name];
        const below = `${path}/${escapePointer(name)}`;
        if (typeof child === 'string' || typeof child === 'object')
          stack.push({ value: child, path: below, key: name });
        // The name of a field stands right before what the field says.
        if (!STRUCTURE.has(name)) stack.push({ value: undefined, path: below, key: name, isKey: true });
      }
    }
  }
  return { pieces, isCut };
}
