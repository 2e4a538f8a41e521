/** The next place from which something other than white space and comments stands. */
function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
    if (text.startsWith('//', at)) at = endOf(text, '\n', at);
    else if (text.startsWith('/*', at)) at = endOf(text, '*/', at + 2);
    else return at;
  }
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + mark.length;
}

/** Behind the string that begins at a place. */
function skipString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

/**
 * Where an object of a JSON text has a key for the second time; of two servers under one name the parsers
 * keep the last and say nothing. The text is valid JSON, comments allowed. No library is loaded for it.
 */
export function findRepeatedKey(text: string): number | undefined {
  const keys: Array<Set<string> | undefined> = [];
  for (let at = skipBlank(text, 0); at < text.length; at = skipBlank(text, at)) {
    const sign = text[at];
    if (sign !== '"') {
      if (sign === '{') keys.push(new Set());
      else if (sign === '[') keys.push(undefined);
      else if (sign === '}' || sign === ']') keys.pop();
      at++;
      continue;
    }
    const begin = at;
    at = skipString(text, at);
    const open = keys.at(-1);
    if (!open || text[skipBlank(text, at)] !== ':') continue;
    const key = JSON.parse(text.slice(begin, at)) as string;
    if (open.has(key)) return begin;
    open.add(key);
  }
  return undefined;
}
