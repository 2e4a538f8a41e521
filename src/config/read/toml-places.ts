/** A stretch of a text. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Where something stands in a TOML text: a table with its header, a field with its name, or an item of a list. */
export interface TomlPlace {
  readonly keys: ReadonlyArray<string | number>;
  readonly kind: 'table' | 'field' | 'item';
  /** A table from the line of its header to the end of its last field, a field from its name, an item as it is. */
  readonly span: Span;
  /** The value of a field or an item. */
  readonly value?: Span;
  /** Where a further field of a table is put. */
  readonly end?: number;
}

type Keys = Array<string | number>;

/** The name that a key stands for; one with an escape that JSON does not know stands for what is written. */
function nameOf(written: string): string {
  if (!written.startsWith('"')) return written.replace(/^'(.*)'$/, '$1');
  try {
    return JSON.parse(written) as string;
  } catch {
    return written;
  }
}

/** Reads where things stand in a TOML text. Of one that is not valid it may find little; it always comes to an end. */
export function readPlaces(text: string): TomlPlace[] {
  const places: TomlPlace[] = [];
  /** How many tables each list of tables has. */
  const counts = new Map<string, number>();
  let at = 0;

  const skip = (pattern: RegExp): string => {
    const sticky = new RegExp(pattern.source, 'y');
    sticky.lastIndex = at;
    const found = sticky.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  /** White space, line breaks and remarks. */
  const blank = (): string => skip(/(?:[ \t\r\n]|#[^\n]*)*/);
  const space = (): string => skip(/[ \t]*/);

  const readString = (): void => {
    for (const quotes of ['"""', "'''"])
      if (text.startsWith(quotes, at)) {
        at += 3;
        while (at < text.length && !text.startsWith(quotes, at)) at += quotes === '"""' && text[at] === '\\' ? 2 : 1;
        // Up to two quotes may stand right before the three that end it.
        skip(quotes === '"""' ? /"{3,5}/ : /'{3,5}/);
        return;
      }
    skip(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/);
  };

  const readKey = (): Keys => {
    const keys: Keys = [];
    do {
      space();
      const from = at;
      if (text[at] === '"' || text[at] === "'") readString();
      else skip(/[\w-]+/);
      const written = text.slice(from, at);
      keys.push(nameOf(written));
      space();
    } while (skip(/\./) !== '');
    return keys;
  };

  const readValue = (keys: Keys): Span => {
    const from = at;
    if (text[at] === '"' || text[at] === "'") readString();
    else if (text[at] === '[') {
      at++;
      for (let index = 0; ; index++) {
        blank();
        if (skip(/\]/) !== '' || at >= text.length) break;
        const before = at;
        const value = readValue([...keys, index]);
        places.push({ keys: [...keys, index], kind: 'item', span: value, value });
        blank();
        skip(/,/);
        if (at === before) break;
      }
    } else if (text[at] === '{') {
      at++;
      while (at < text.length) {
        blank();
        if (skip(/\}/) !== '') break;
        const before = at;
        readField(keys);
        blank();
        skip(/,/);
        if (at === before) break;
      }
    } else {
      skip(/[^,\]}#\r\n]*/);
      at = from + text.slice(from, at).trimEnd().length;
      // A text that is not valid must not keep this going.
      if (at === from) at++;
    }
    return { from, until: at };
  };

  const readField = (parent: Keys): void => {
    const from = at;
    const keys = [...parent, ...readKey()];
    skip(/=/);
    space();
    const value = readValue(keys);
    places.push({ keys, kind: 'field', span: { from, until: value.until }, value });
  };

  /** The keys of a header: a list of tables stands for its last one. */
  const resolve = (written: Keys, isList: boolean): Keys => {
    const keys: Keys = [];
    for (const [depth, key] of written.entries()) {
      keys.push(key);
      const name = JSON.stringify(keys);
      const count = counts.get(name) ?? 0;
      if (isList && depth === written.length - 1) {
        counts.set(name, count + 1);
        keys.push(count);
      } else if (count > 0) keys.push(count - 1);
    }
    return keys;
  };

  let table: { keys: Keys; from: number; end: number } = { keys: [], from: 0, end: 0 };
  const close = (): void => {
    places.push({ keys: table.keys, kind: 'table', span: { from: table.from, until: table.end }, end: table.end });
  };
  for (blank(); at < text.length; blank()) {
    const from = at;
    if (text[at] === '[') {
      close();
      const isList = skip(/\[\[?/) === '[[';
      const keys = resolve(readKey(), isList);
      skip(/\]\]?/);
      table = { keys, from, end: at };
    } else readField(table.keys);
    if (at === from) break;
    // What stands behind it on its line belongs to it.
    skip(/[ \t]*(?:#[^\r\n]*)?/);
    table.end = at;
  }
  close();
  return places;
}
