import { extname } from 'node:path';
import type { Node, ParseError } from 'jsonc-parser';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { isDeeperThan } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { oneLine, printable } from '../../kernel/text.js';
import { defineConfig } from '../define-config.js';
import { FORMATS, type Format } from './find.js';
import { problemAt } from './path.js';
import { findRepeatedKey } from './repeated-key.js';

/** A place in a file, counted from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

function parseError(
  path: string,
  message: string,
  at?: Position,
  suggestion = `Correct the file${at ? ' at this position' : ''}, then try again.`,
): ToolscoutError {
  const where = at ? `line ${at.line}, column ${at.column}` : 'file';
  const shown = at ? `${path}:${at.line}:${at.column}` : path;
  return new ToolscoutError('CONFIGURATION_ERROR', `${shown}: ${message}`, {
    suggestion,
    problems: [problemAt(where, message)],
    file: path,
  });
}

function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

/** `CloseBraceExpected` → `close brace expected`. */
function inWords(code: string): string {
  return code.replace(/(?!^)([A-Z])/g, ' $1').toLowerCase();
}

/** `__proto__` becomes an ordinary field here, so that validation can see and refuse it. */
function nodeValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map((child) => nodeValue(child));
  if (node.type !== 'object') return node.value as unknown;
  const object: Record<string, unknown> = {};
  for (const { children = [] } of node.children ?? []) {
    const [key, value] = children;
    if (!key || !value) continue;
    Object.defineProperty(object, String(key.value), {
      value: nodeValue(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

async function parseJsonc(text: string, path: string, strict: boolean): Promise<unknown> {
  const { parseTree, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, {
    allowEmptyContent: true,
    allowTrailingComma: !strict,
    disallowComments: strict,
  });
  const [first] = errors;
  if (first) {
    const code = printParseErrorCode(first.error);
    const hint = code === 'InvalidCommentToken' ? '; comments need the ending .jsonc' : '';
    throw parseError(path, `not valid JSON: ${inWords(code)}${hint}`, positionOf(text, first.offset));
  }
  return tree ? nodeValue(tree) : {};
}

async function parseJson(text: string, path: string): Promise<unknown> {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    // The engine's own message quotes the file, which may hold credentials: parse again for the place.
    if (!(thrown instanceof SyntaxError)) throw thrown;
    await parseJsonc(text, path, true);
    throw parseError(path, 'not valid JSON');
  }
}

/** What follows a colon in these messages may quote the file. */
function yamlReason(thrown: unknown): string {
  const reason = messageOf(thrown).split(':')[0]!;
  return reason.includes('call stack') ? 'it is nested too deep' : oneLine(printable(reason), 200);
}

/**
 * Whether collections open inside each other on one line deeper than any config needs. The parser itself takes
 * minutes and gigabytes for a megabyte of `[` or `- `, so it must not see that.
 */
function nestsTooDeep(tokens: Iterable<string>, typeOf: (token: string) => string | null): boolean {
  let flow = 0;
  let compact = 0;
  for (const token of tokens) {
    const type = typeOf(token);
    if (type === 'flow-map-start' || type === 'flow-seq-start') flow++;
    else if (type === 'flow-map-end' || type === 'flow-seq-end') flow--;
    else if (type === 'seq-item-ind' || type === 'explicit-key-ind' || type === 'map-value-ind') compact++;
    else if (type !== 'space') compact = 0;
    if (flow > LIMITS.depth || compact > LIMITS.depth) return true;
  }
  return false;
}

/** Whether a YAML text must not be given to the parser. */
export async function isYamlTooDeep(text: string): Promise<boolean> {
  const { CST, Lexer } = await import('yaml');
  return nestsTooDeep(new Lexer().lex(text), CST.tokenType);
}

async function parseYaml(text: string, path: string): Promise<unknown> {
  const { isScalar, LineCounter, parseDocument, visit } = await import('yaml');
  if (await isYamlTooDeep(text)) throw parseError(path, 'is nested too deep');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false, logLevel: 'error' });
  // A warning is an unknown tag such as !!js/function: the value would not mean what it says.
  const [first] = [...document.errors, ...document.warnings];
  if (first) {
    const { line, col } = lineCounter.linePos(first.pos[0]);
    throw parseError(path, `not valid YAML: ${yamlReason(first)}`, { line, column: col });
  }
  // The parser could look for duplicate keys itself, but compares each with each.
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = String(isScalar(key) ? key.value : key);
        if (seen.has(name)) {
          const start = isScalar(key) ? key.range?.[0] : undefined;
          const { line, col } = lineCounter.linePos(start ?? 0);
          throw parseError(path, 'not valid YAML: this key is given twice', { line, column: col });
        }
        seen.add(name);
      }
    },
  });
  const { contents } = document;
  // Nothing but comments, perhaps after a `---`.
  if (contents === null || (isScalar(contents) && contents.value === null && !contents.source)) return {};
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (thrown) {
    throw parseError(path, `not valid YAML: ${yamlReason(thrown)}`);
  }
}

async function parseToml(text: string, path: string): Promise<unknown> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text);
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    // After its first line the message quotes the file.
    const reason = thrown.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw parseError(path, `not valid TOML: ${reason}`, { line: thrown.line, column: thrown.column });
  }
}

/**
 * Runs a config that is code. Nothing is cached, so that a reload sees what changed, in the file and in what it
 * imports (except from an imported `.mjs`, which only the runtime can load and never loads twice).
 */
async function runModule(text: string, path: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(path, {
    moduleCache: false,
    fsCache: false,
    interopDefault: false,
    virtualModules: { toolscout: { defineConfig } },
  });
  try {
    const options = { filename: path, ext: '.ts', async: true, forceTranspile: true } as const;
    const exported = (await jiti.evalModule(text, options)) as Record<string, unknown>;
    return await (Object.hasOwn(exported, 'default') ? exported.default : { ...exported });
  } catch (thrown) {
    const message = messageOf(thrown);
    const place = /:(\d+):(\d+)\s*$/.exec(message);
    const reason = oneLine(printable(message.split('\n')[0]!), 300).replace(/^ParseError: /, '');
    throw parseError(path, reason, place ? { line: Number(place[1]), column: Number(place[2]) } : undefined);
  }
}

/** The format of a config file, from its ending. */
export function formatOf(path: string): Format {
  const ending = extname(path).slice(1).toLowerCase();
  const format = FORMATS.find((known) => known === ending);
  if (format !== undefined) return format;
  const endings = FORMATS.map((known) => `.${known}`).join(', ');
  throw parseError(
    path,
    `the ending of a config file is one of ${endings}`,
    undefined,
    'Rename the file, then try again.',
  );
}

/**
 * Reads the text of a config file into plain data. An empty file is an empty config. The libraries are loaded
 * only when their format is met.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` with line and column, and without quoting the file.
 */
export async function parseConfig(content: string, path: string): Promise<unknown> {
  const format = formatOf(path);
  const text = withoutMark(content);
  if (format === 'ts' || format === 'js' || format === 'mjs') return runModule(text, path);
  const data = await parseData(text, path, format);
  const repeated = format === 'json' || format === 'jsonc' ? findRepeatedKey(text) : undefined;
  if (repeated === undefined) return data;
  throw parseError(path, 'not valid JSON: this key is given twice', positionOf(text, repeated));
}

/** Bytes that some editors put at the beginning of a text. */
function withoutMark(content: string): string {
  return content.replace(/^\ufeff/, '');
}

/** What holds data and no code. */
export type DataFormat = Exclude<Format, 'ts' | 'js' | 'mjs'>;

const PARSERS: Readonly<Record<DataFormat, (text: string, path: string) => Promise<unknown>>> = {
  json: parseJson,
  jsonc: (text, path) => parseJsonc(text, path, false),
  yaml: parseYaml,
  yml: parseYaml,
  toml: parseToml,
};

/**
 * Reads a text in a given format into plain data, whatever the file is called; nothing in it is run.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` with line and column, and without quoting the file.
 */
export async function parseData(content: string, path: string, format: DataFormat): Promise<unknown> {
  const text = withoutMark(content);
  try {
    const data = await PARSERS[format](text, path);
    // The depth at which a parser overflows the stack differs from run to run; this limit does not.
    if (isDeeperThan(data, LIMITS.depth)) throw parseError(path, `is nested deeper than ${LIMITS.depth} levels`);
    return data;
  } catch (thrown) {
    // The parsers recurse; a file nested thousands of levels deep ends here.
    if (thrown instanceof RangeError) throw parseError(path, 'is nested too deep');
    if (thrown instanceof ToolscoutError) throw thrown;
    throw parseError(path, `is not valid ${format.toUpperCase()}`);
  }
}
