import { ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Viewer } from '../model/viewer.js';
import type { KeptResult, KeptResults } from './kept-results.js';
import { pageOf } from './page.js';
import { bulkOf, jsonOf, onlyTextOf } from './result-data.js';
import { foundPhrase, searchResult } from './search-result.js';
import { compileSelection } from './select/select.js';
import { shapeOfJson } from './shape.js';

const handle = { type: 'string', description: 'res_… of an earlier answer' };
const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** The tools of the server `toolscout`, as a server would list them (ANS-3). */
export const OWN_TOOLS: readonly JsonObject[] = [
  {
    name: 'read_result',
    title: 'Read a kept result',
    description:
      'Reads on in a large result that was kept under a handle: lines of a text, items of a list, members of an object, from offset on. path and select (both JMESPath) choose a part first.',
    inputSchema: {
      type: 'object',
      properties: {
        handle,
        path: { type: 'string', description: 'the part to read, e.g. data.items[3].body' },
        select: { type: 'string', description: "JMESPath on that part, e.g. [?state=='open'].{id: id, title: title}" },
        offset: { type: 'integer', minimum: 0, default: 0 },
        limit: { type: 'integer', minimum: 1, description: 'lines, items or members; as many as fit by default' },
      },
      required: ['handle'],
      additionalProperties: false,
    },
    annotations: readOnly,
  },
  {
    name: 'search_result',
    title: 'Search a kept result',
    description:
      'Finds words in a large result that was kept under a handle: the lines of a text or the records of JSON that fit best, with where they are.',
    inputSchema: {
      type: 'object',
      properties: {
        handle,
        query: { type: 'string', description: 'words to look for' },
        limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
      },
      required: ['handle', 'query'],
      additionalProperties: false,
    },
    annotations: readOnly,
  },
];

/** Lines around a page: what it is a part of, and how to go on. */
const FRAME_TOKENS = 160;
/** The estimate may be off; a page leaves room for that. */
const MARGIN = 0.8;

function answer(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}

function textIn(args: JsonObject, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function countIn(args: JsonObject, name: string, fallback: number): number {
  const value = args[name];
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : fallback;
}

/** One message for a handle that never existed, one that expired and one of another viewer: none may be told apart. */
function noResult(): ToolscoutError {
  return new ToolscoutError('NOT_FOUND', 'This result handle is unknown or has expired.', {
    suggestion:
      'Run the tool again, unless it changes something. If the call takes select, pass it to get only a part of the result.',
    delivered: false,
  });
}

/** What `path` and `select` work on: the JSON of the result, or the result as its server sent it. */
function dataOf({ result }: KeptResult): JsonValue {
  return jsonOf(result) ?? onlyTextOf(result) ?? result;
}

/** A part of a kept result; `missed` says what an expression that found nothing was applied to. */
interface Narrowed {
  readonly value: JsonValue;
  readonly missed?: string;
}

/** Tokens of the shape of what an expression was applied to. */
const SHAPE_TOKENS = 100;

function isNothing(value: JsonValue): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function narrowed(from: Narrowed, expression: string | undefined, name: string): Narrowed {
  const { value } = from;
  if (expression === undefined || from.missed !== undefined) return from;
  // A path of an answer begins at the whole result where that is no JSON.
  const outcome = compileSelection(expression, name).apply(value);
  if ('value' in outcome) {
    if (!isNothing(outcome.value)) return { value: outcome.value };
    return { value: outcome.value, missed: `${name} found nothing in ${shapeOfJson(value, SHAPE_TOKENS)}` };
  }
  throw new ToolscoutError('INVALID_REQUEST', `"${name}" cannot be applied: ${outcome.problem}.`, { delivered: false });
}

/** Runs one of the own tools for a viewer; the answer costs no more than `tokens`. */
export async function runOwnTool(
  kept: KeptResults,
  viewer: Viewer,
  name: string,
  args: JsonObject,
  tokens: number,
): Promise<JsonObject> {
  const found = await kept.find(viewer, String(args['handle']));
  if (!found) throw noResult();
  const room = Math.floor(Math.max(tokens - FRAME_TOKENS, 100) * MARGIN);
  return name === 'search_result' ? search(found, args, room) : read(found, args, room);
}

function search(found: KeptResult, args: JsonObject, tokens: number): JsonObject {
  const findings = searchResult(found.result, String(args['query']), countIn(args, 'limit', 10), tokens);
  if (findings.found === 0) {
    return answer('[Nothing found. Try other words, or read_result with an offset or a path.]');
  }
  return answer(`[${foundPhrase(findings)}]\n${findings.text}`);
}

function read(found: KeptResult, args: JsonObject, tokens: number): JsonObject {
  const path = textIn(args, 'path');
  const select = textIn(args, 'select');
  const data = dataOf(found);
  const isWhole = path?.startsWith('content[') === true && !(isObject(data) && Object.hasOwn(data, 'content'));
  // Both are read before any is applied: what is wrong with them does not depend on the result.
  if (select !== undefined) compileSelection(select);
  const part = narrowed({ value: isWhole ? found.result : data }, path, 'path');
  const { value, missed } = narrowed(part, select, 'select');
  const offset = countIn(args, 'offset', 0);
  const page = pageOf(value, { offset, limit: countIn(args, 'limit', Infinity), tokens });
  const notes = [page.shown];
  if (page.isPruned) notes.push('long parts are cut: read them with a longer path');
  if (page.next !== undefined) notes.push(`next: offset ${page.next}`);
  if (missed !== undefined)
    return answer(`${JSON.stringify(value)}\n[${missed}${path && select ? '; select begins at path' : ''}]`);
  const bulk = offset > 0 && isObject(value) && offset >= Object.keys(value).length ? bulkOf(value).path : '';
  if (bulk !== '') notes.push(`what is long is in path ${JSON.stringify(bulk)}: read it with that path and the offset`);
  const isPart = page.next !== undefined || page.isPruned || offset > 0;
  return answer(isPart || page.text === '' ? `${page.text}\n[${notes.join('; ')}]` : page.text);
}
