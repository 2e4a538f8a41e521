import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { strictBlockFields, strictLink } from './strict-items.js';

/** Since which revision a kind of content exists; all others have always been there. */
const SINCE: Readonly<Record<string, string>> = { audio: '2025-03-26', resource_link: '2025-06-18' };

/** Before it structured content was an object. */
const ANY_STRUCTURE = '2026-07-28';

const textBlock = (text: string): JsonObject => ({ type: 'text', text });
const asText = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

function isContents(value: JsonValue | undefined): boolean {
  if (!isObject(value) || typeof value['uri'] !== 'string') return false;
  return typeof value['text'] === 'string' || typeof value['blob'] === 'string';
}

/** Whether a block has what its type requires; `false` for a type that no client knows. */
function isWhole({ type, text, data, mimeType, resource, uri, name }: JsonObject): boolean {
  switch (type) {
    case 'text':
      return typeof text === 'string';
    case 'image':
    case 'audio':
      return typeof data === 'string' && typeof mimeType === 'string';
    case 'resource':
      return isContents(resource);
    case 'resource_link':
      return typeof uri === 'string' && typeof name === 'string';
    default:
      return false;
  }
}

/** A block that the revision of the host does not have, as text: a link as it is, sound without its data. */
function olderBlock(block: JsonObject, revision: string): JsonObject {
  if (block['type'] !== 'audio') return textBlock(JSON.stringify(block));
  const { mimeType, data } = block;
  const size = typeof data === 'string' ? data.length : 0;
  const reason = `left out, since protocol revision ${revision} has no audio`;
  return textBlock(`[${asText(mimeType)}, ${size} characters of base64: ${reason}]`);
}

/** A block of content as every client of a revision can parse it; the same object where it is so already. */
function strictBlock(block: JsonValue, revision: string): JsonObject {
  if (!isObject(block)) return textBlock(asText(block));
  const { type, annotations, _meta: meta } = block;
  const since = typeof type === 'string' ? SINCE[type] : undefined;
  if (since !== undefined && revision < since) return olderBlock(block, revision);
  if (type === 'resource_link' && typeof block['uri'] === 'string') return strictLink(block);
  if (type === 'text' && block['text'] === undefined) return { ...strictBlockFields(block), text: '' };
  if (type === 'text' && typeof block['text'] !== 'string') {
    return { ...strictBlockFields(block), text: asText(block['text']) };
  }
  if (!isWhole(block)) return textBlock(JSON.stringify(block));
  return annotations === undefined && meta === undefined ? block : strictBlockFields(block);
}

function strictBlocks(blocks: JsonValue[], revision: string): JsonValue[] {
  const mended = blocks.map((block) => strictBlock(block, revision));
  return mended.every((block, at) => block === blocks[at]) ? blocks : mended;
}

/** What a tool answered, as a list of blocks. */
function contentOf({ content, structuredContent, toolResult }: JsonObject): JsonValue[] {
  if (Array.isArray(content)) return content;
  if (content !== undefined && content !== null) return [content];
  // `toolResult` is how the revision of 2024-10-07 answered.
  const value = structuredContent ?? toolResult;
  return value === undefined || value === null ? [] : [textBlock(asText(value))];
}

/** A result for a host that supports only objects: any other structured value is wrapped, and readable as text. */
function wrapStructure(result: JsonObject): JsonObject {
  const { structuredContent: value, content } = result;
  if (value === undefined || isObject(value)) return result;
  const items: JsonValue[] = Array.isArray(content) ? content : [];
  const isReadable = items.some((item) => isObject(item) && item['type'] === 'text');
  return {
    ...result,
    content: isReadable ? items : [...items, textBlock(asText(value))],
    structuredContent: { result: value },
  };
}

/** Whether a result reports an error; some servers write the flag as a text. */
export function reportsError({ isError }: JsonObject): boolean {
  return isError === true || isError === 'true';
}

/** Fields that are of another type than the protocol says. */
function mendResult(result: JsonObject): JsonObject {
  const { isError, _meta: meta } = result;
  const isFlag = isError === undefined || typeof isError === 'boolean';
  if (isFlag && (meta === undefined || isObject(meta))) return result;
  const { isError: _flag, _meta: _notes, ...rest } = result;
  return { ...rest, ...(reportsError(result) && { isError: true }), ...(isObject(meta) && { _meta: meta }) };
}

/**
 * What a tool answered, in a form that every client of a revision can parse (META-3): one that cannot parse it has no
 * answer at all. A result that has this form already is the same object.
 */
export function strictCallResult(result: JsonObject, revision: string): JsonObject {
  if (result['resultType'] === 'input_required' || isObject(result['task'])) return result;
  const given = contentOf(result);
  const content = strictBlocks(given, revision);
  const mended = mendResult(content === result['content'] ? result : { ...result, content });
  return revision < ANY_STRUCTURE ? wrapStructure(mended) : mended;
}

/** What should be a list: one value is a list of it, none an empty one. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** The messages of a prompt: one block of content each. */
export function strictPromptResult(result: JsonObject, revision: string): JsonObject {
  if (result['resultType'] === 'input_required') return result;
  const messages = listOf(result['messages']);
  const mended = messages.flatMap((message): JsonValue[] => {
    const { role, content } = isObject(message) ? message : { role: 'user', content: message };
    const known = role === 'assistant' ? 'assistant' : 'user';
    const blocks = strictBlocks(Array.isArray(content) ? content : [content ?? ''], revision);
    if (isObject(message) && known === role && blocks.length === 1 && blocks[0] === content) return [message];
    return blocks.map((block) => ({ role: known, content: block }));
  });
  const isSame =
    messages === result['messages'] &&
    mended.length === messages.length &&
    mended.every((message, at) => message === messages[at]);
  return isSame ? result : { ...result, messages: mended };
}

/** The contents of a resource; what has no address of its own has the one that was asked for. */
export function strictReadResult(result: JsonObject, uri: string): JsonObject {
  const { contents } = result;
  if (result['resultType'] === 'input_required') return result;
  const given = listOf(contents);
  const mended = given.map((item): JsonValue => {
    if (!isObject(item)) return { uri, text: asText(item) };
    const { mimeType, _meta: meta, text, ...rest } = item;
    const isTyped = (mimeType === undefined || typeof mimeType === 'string') && (meta === undefined || isObject(meta));
    if (isTyped && isContents(item)) return item;
    return {
      uri,
      ...rest,
      ...(typeof rest['uri'] !== 'string' && { uri }),
      ...(typeof mimeType === 'string' && { mimeType }),
      ...(typeof rest['blob'] !== 'string' && { text: text === undefined ? '' : asText(text) }),
      ...(isObject(meta) && { _meta: meta }),
    };
  });
  const isSame = given === contents && mended.every((item, at) => item === contents[at]);
  return isSame ? result : { ...result, contents: mended };
}

/** What completes an argument. */
export function strictCompletion(result: JsonObject): JsonObject {
  const { completion = result } = result;
  const values = isObject(completion) ? completion['values'] : completion;
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
  const isSame = isObject(result['completion']) && Array.isArray(values) && texts.length === values.length;
  return isSame ? result : { completion: { values: texts } };
}
