import { isYamlTooDeep, type DataFormat } from './parse.js';
import { SECTION } from './raw-field.js';
import { readPlaces } from './toml-places.js';

type Keys = ReadonlyArray<string | number>;

/** The line of a value, counted from 1; `undefined` when the text does not have it. */
type FindLine = (keys: Keys) => number | undefined;

/** The keys of a path as problems name it: `toolRules[2].pattern`, `servers["a b"].url`. */
export function keysOf(path: string): Keys {
  const parts = path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g);
  return [...parts].map(([, index, quoted, name]) => {
    if (index !== undefined) return Number(index);
    if (quoted === undefined) return name!;
    try {
      return JSON.parse(`"${quoted}"`) as string;
    } catch {
      return quoted;
    }
  });
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

async function inJson(text: string): Promise<FindLine> {
  const { findNodeAtLocation, parseTree } = await import('jsonc-parser');
  const root = parseTree(text, [], { allowTrailingComma: true });
  return (keys) => {
    const node = root && findNodeAtLocation(root, [...keys]);
    if (!node) return undefined;
    // A field stands where its name does.
    return lineAt(text, node.parent?.type === 'property' ? node.parent.offset : node.offset);
  };
}

async function inYaml(text: string): Promise<FindLine> {
  if (await isYamlTooDeep(text)) return () => undefined;
  const { isMap, isNode, isScalar, isSeq, parseDocument } = await import('yaml');
  const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false });
  return (keys) => {
    let here: unknown = document.contents;
    let offset: number | undefined;
    for (const key of keys) {
      if (isMap(here)) {
        const pair = here.items.find((each) => String(isScalar(each.key) ? each.key.value : each.key) === String(key));
        if (!pair) return undefined;
        offset = isNode(pair.key) ? pair.key.range?.[0] : undefined;
        here = pair.value;
      } else if (isSeq(here)) {
        here = here.items[Number(key)];
        offset = isNode(here) ? here.range?.[0] : undefined;
      } else return undefined;
      if (offset === undefined) return undefined;
    }
    return offset === undefined ? undefined : lineAt(text, offset);
  };
}

function inToml(text: string): FindLine {
  const places = readPlaces(text);
  return (keys) => {
    const name = JSON.stringify(keys);
    const place = places.find((each) => JSON.stringify(each.keys) === name);
    return place && lineAt(text, place.span.from);
  };
}

async function finderFor(text: string, format: DataFormat | undefined): Promise<FindLine> {
  try {
    if (format === 'toml') return inToml(text);
    if (format === 'yaml' || format === 'yml') return await inYaml(text);
    if (format !== undefined) return await inJson(text);
  } catch {
    // A text that is not valid is read too: its problem is told anyway, then without a line.
  }
  return () => undefined;
}

/**
 * Finds the line on which the value of a path stands in a text, or what is there of the way to it. A problem that names its line
 * itself is on that one; `undefined` where there is no line.
 */
export async function createLineFinder(
  text: string,
  format: DataFormat | undefined,
): Promise<(path: string) => number | undefined> {
  const find = await finderFor(text, format);
  return (path) => {
    const named = /^line (\d+)\b/.exec(path)?.[1];
    if (named !== undefined) return Number(named);
    const keys = keysOf(path);
    for (let depth = keys.length; depth > 0; depth--) {
      const known = keys.slice(0, depth);
      const line = find(known) ?? find([SECTION, ...known]);
      if (line !== undefined) return line;
    }
    return undefined;
  };
}
