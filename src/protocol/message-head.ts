/** What of a JSON-RPC message says where it belongs. */
export interface MessageHead {
  readonly id?: string | number;
  readonly method?: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Text that is not a JSON object. */
const NOT_FOUND = -1;

function skipSpace(line: Buffer, at: number): number {
  let next = at;
  while (line[next] === 0x20 || line[next] === 0x09 || line[next] === 0x0a || line[next] === 0x0d) next++;
  return next;
}

/** The place behind the string that begins at `at`. */
function skipString(line: Buffer, at: number): number {
  for (let end = line.indexOf(QUOTE, at + 1); end !== NOT_FOUND; end = line.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (line[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return NOT_FOUND;
}

/** The place behind the value that begins at `at`. */
function skipValue(line: Buffer, at: number): number {
  const first = line[at];
  if (first === QUOTE) return skipString(line, at);
  let depth = 0;
  for (let next = at; next < line.length; next++) {
    const byte = line[next];
    if (byte === QUOTE) {
      next = skipString(line, next) - 1;
      if (next < at) return NOT_FOUND;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST)) return next;
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return next + 1;
  }
  return NOT_FOUND;
}

function valueAt(line: Buffer, from: number, to: number): unknown {
  try {
    return JSON.parse(line.toString('utf8', from, to));
  } catch {
    // The receiver of the message parses it as a whole and reports the error.
    return undefined;
  }
}

function headOf(id: unknown, method: unknown): MessageHead {
  return {
    ...((typeof id === 'string' || typeof id === 'number') && { id }),
    ...(typeof method === 'string' && { method }),
  };
}

/** The head of one message; nothing but `id` and `method` is read, so that a large message costs no objects. */
function readOne(line: Buffer, from: number): MessageHead | undefined {
  let id: unknown;
  let method: unknown;
  let at = skipSpace(line, from + 1);
  while (line[at] === QUOTE) {
    const keyEnd = skipString(line, at);
    if (keyEnd === NOT_FOUND) return undefined;
    const key = line.toString('latin1', at + 1, keyEnd - 1);
    at = skipSpace(line, keyEnd);
    if (line[at] !== COLON) return undefined;
    const start = skipSpace(line, at + 1);
    const end = skipValue(line, start);
    if (end === NOT_FOUND) return undefined;
    if (key === 'id') id = valueAt(line, start, end);
    else if (key === 'method') method = valueAt(line, start, end);
    at = skipSpace(line, end);
    if (line[at] === COMMA) at = skipSpace(line, at + 1);
  }
  return line[at] === CLOSE_OBJECT ? headOf(id, method) : undefined;
}

/** The heads of the messages on a line: one, those of a batch, or none where the line is not JSON-RPC. */
export function readHeads(line: Buffer): MessageHead[] {
  const at = skipSpace(line, 0);
  if (line[at] === OPEN_OBJECT) {
    const head = readOne(line, at);
    return head ? [head] : [];
  }
  const batch = line[at] === OPEN_LIST ? valueAt(line, at, line.length) : undefined;
  if (!Array.isArray(batch)) return [];
  return batch.map((each: unknown) => {
    const { id, method } = (typeof each === 'object' && each !== null ? each : {}) as Record<string, unknown>;
    return headOf(id, method);
  });
}
