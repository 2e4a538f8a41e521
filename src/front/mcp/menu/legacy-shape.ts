import { isObject, type JsonObject } from '../../../kernel/json.js';

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
