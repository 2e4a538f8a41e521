import type { Json, JsonObject } from '../../api/types.js';

/** One way to show a part of a result. */
export type ResultPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'image'; readonly source: string; readonly type: string }
  | {
      readonly kind: 'table';
      readonly columns: readonly string[];
      readonly rows: ReadonlyArray<Readonly<Record<string, Json>>>;
      readonly value: Json;
    }
  | { readonly kind: 'note'; readonly text: string; readonly value: Json };

/** Pictures that hold nothing but pixels. */
const IMAGE_TYPES = /^image\/(?:png|jpe?g|gif|webp|avif)$/;
const BASE64 = /^[A-Za-z0-9+/\s]+=*\s*$/;
const MAX_COLUMNS = 12;

function isRecord(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of flat objects with mostly the same fields is a table. */
export function tableOf(value: Json): Extract<ResultPart, { kind: 'table' }> | undefined {
  const list = Array.isArray(value) ? value : isRecord(value) ? onlyList(value) : undefined;
  if (!list || list.length === 0 || !list.every(isRecord)) return undefined;
  const counts = new Map<string, number>();
  for (const row of list) for (const key of Object.keys(row)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const columns = [...counts.keys()];
  const isFlat = list.every((row) =>
    Object.values(row).every((cell) => cell === null || typeof cell !== 'object' || JSON.stringify(cell).length <= 80),
  );
  const filled = [...counts.values()].reduce((sum, count) => sum + count, 0) / (columns.length * list.length);
  if (columns.length === 0 || columns.length > MAX_COLUMNS || !isFlat || filled < 0.5) return undefined;
  return { kind: 'table', columns, rows: list, value };
}

/** The list of an object that holds one list and nothing else that is not a number or a text. */
function onlyList(value: JsonObject): Json[] | undefined {
  const lists = Object.values(value).filter((one) => Array.isArray(one));
  const hasOthers = Object.values(value).some((one) => isRecord(one));
  return lists.length === 1 && !hasOthers ? lists[0] : undefined;
}

function parseJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function valuePart(value: Json): ResultPart {
  return tableOf(value) ?? { kind: 'json', value };
}

function textPart(text: string): ResultPart {
  const value = parseJson(text);
  return value === undefined ? { kind: 'text', text } : valuePart(value);
}

function partOf(item: Json): ResultPart {
  if (!isRecord(item)) return { kind: 'json', value: item };
  const { type, text, data, mimeType, resource } = item;
  if (type === 'text' && typeof text === 'string') return textPart(text);
  if (
    type === 'image' &&
    typeof data === 'string' &&
    typeof mimeType === 'string' &&
    IMAGE_TYPES.test(mimeType) &&
    BASE64.test(data)
  ) {
    return { kind: 'image', source: `data:${mimeType};base64,${data}`, type: mimeType };
  }
  if (type === 'resource' && isRecord(resource ?? null) && typeof (resource as JsonObject)['text'] === 'string') {
    return textPart((resource as JsonObject)['text'] as string);
  }
  return {
    kind: 'note',
    text: typeof type === 'string' ? `A part of type ${type}, as it came:` : 'A part of an unknown type, as it came:',
    value: item,
  };
}

/** The parts of a result, each in the form in which it is read best. */
export function partsOf(result: JsonObject): ResultPart[] {
  const content = Array.isArray(result['content']) ? result['content'] : [];
  const structured = result['structuredContent'];
  const parts = content.map(partOf);
  if (structured === undefined || structured === null)
    return parts.length > 0 ? parts : [{ kind: 'json', value: result }];
  // A text that only repeats the structured content is left out.
  const written = JSON.stringify(structured);
  const others = content.filter(
    (item) =>
      !(
        isRecord(item) &&
        typeof item['text'] === 'string' &&
        JSON.stringify(parseJson(item['text']) ?? null) === written
      ),
  );
  return [valuePart(structured), ...others.map(partOf)];
}

/** Whether a result says nothing besides this message, so that it need not be shown again. */
export function saysOnly(result: JsonObject, message: string): boolean {
  const [part, ...others] = partsOf(result);
  return others.length === 0 && part?.kind === 'text' && part.text.trim() === message.trim();
}
