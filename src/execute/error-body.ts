import type { Severity } from '../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';

/** What a server itself says about its error (EXEC-3). */
export interface ErrorBody {
  readonly errorCode?: string;
  readonly text?: string;
  readonly suggestion?: string;
  readonly severity?: Severity;
}

/** An error body that says what to do is short; longer text is not parsed. */
const MAX_BODY_LENGTH = 64 * 1024;

/** Items of a result in which an error body is looked for. */
const MAX_ITEMS = 8;

/** Codes by which some services say that nothing is wrong. */
const NO_ERROR = /^(0+|ok|success|none)$/i;

function textAt(body: JsonObject, key: string): string | undefined {
  const value = body[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function severityOf(value: JsonValue | undefined): Severity | undefined {
  const upper = typeof value === 'string' ? value.toUpperCase() : '';
  return upper === 'WARNING' || upper === 'SEVERE' ? upper : undefined;
}

/** The error of a server's body, when it has one of the fields that say more than text does. */
export function errorBodyIn(value: unknown): ErrorBody | undefined {
  if (!isObject(value)) return undefined;
  const body = isObject(value['error']) ? value['error'] : value;
  const errorCode = textAt(body, 'error_code');
  const suggestion = textAt(body, 'suggestion');
  const severity = severityOf(body['severity']);
  if (errorCode === undefined && suggestion === undefined && severity === undefined) return undefined;
  const text = textAt(body, 'message') ?? textAt(body, 'error') ?? textAt(body, 'detail');
  return { errorCode, text, suggestion, severity };
}

function parseBody(text: string | undefined): unknown {
  if (text === undefined || text.length > MAX_BODY_LENGTH || !/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Text that merely begins like JSON is the message itself.
    return undefined;
  }
}

function textOfItem(item: JsonValue | undefined): string | undefined {
  return isObject(item) && item['type'] === 'text' ? textAt(item, 'text') : undefined;
}

/** The first texts of a result; an error body seldom stands further back. */
export function firstTexts(result: JsonObject): string[] {
  if (!Array.isArray(result['content'])) return [];
  return result['content'].slice(0, MAX_ITEMS).flatMap((item) => textOfItem(item) ?? []);
}

/** The error body of a result that says `isError`. */
export function errorBodyOf(result: JsonObject): ErrorBody | undefined {
  const structured = errorBodyIn(result['structuredContent']);
  if (structured) return structured;
  for (const text of firstTexts(result)) {
    const body = errorBodyIn(parseBody(text));
    if (body) return body;
  }
  return undefined;
}

/** The text of a result that has nothing else. */
function onlyText({ content }: JsonObject): string | undefined {
  return Array.isArray(content) && content.length === 1 ? textOfItem(content[0]) : undefined;
}

function isRequired(name: string, schema: JsonValue | undefined): boolean {
  return isObject(schema) && Array.isArray(schema['required']) && schema['required'].includes(name);
}

/**
 * Whether a result without `isError` is an error all the same (EXEC-3): its structured content, or the JSON object that is its
 * only text, or the object under `error` there, has a text `error_code` and besides it a text `message`, `error`, `detail` or
 * `suggestion`, or a known `severity`. Data is not taken for an error: not where the output schema requires an `error_code`,
 * not where the body says `success` or `ok`, and not where the code says that nothing is wrong.
 */
export function isErrorResult(result: JsonObject, outputSchema: JsonValue | undefined): boolean {
  const { structuredContent } = result;
  const value = structuredContent === undefined ? parseBody(onlyText(result)) : structuredContent;
  if (!isObject(value) || value['success'] === true || value['ok'] === true) return false;
  const body = errorBodyIn(value);
  if (body?.errorCode === undefined || NO_ERROR.test(body.errorCode)) return false;
  const isTold = body.text !== undefined || body.suggestion !== undefined || body.severity !== undefined;
  return isTold && !isRequired('error_code', outputSchema);
}
