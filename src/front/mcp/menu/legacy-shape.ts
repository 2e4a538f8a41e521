import { isObject, type JsonObject, type JsonValue } from '../../../kernel/json.js';

/**
 * Before 2026-07-28 structured content was an object and an output schema described one; a host of that
 * time refuses a whole list for one schema that does not. So such a schema is left out for it.
 */
export function toolForLegacy(definition: JsonObject): JsonObject {
  const { outputSchema, ...rest } = definition;
  return outputSchema === undefined || (isObject(outputSchema) && outputSchema['type'] === 'object')
    ? definition
    : rest;
}

/** A result for a host that supports only objects: any other structured value is wrapped, and readable as text. */
export function resultForLegacy(result: JsonObject): JsonObject {
  const { structuredContent: value, content } = result;
  if (value === undefined || isObject(value)) return result;
  const items: JsonValue[] = Array.isArray(content) ? content : [];
  const isReadable = items.some((item) => isObject(item) && item['type'] === 'text');
  return {
    ...result,
    content: isReadable ? items : [...items, { type: 'text', text: JSON.stringify(value) }],
    structuredContent: { result: value },
  };
}
