import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';

/** Keywords of a checkable schema that hold a schema, a list of them, or a map of them. */
const ONE: ReadonlySet<string> = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedProperties',
  'unevaluatedItems',
]);
const LIST: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const MAP: ReadonlySet<string> = new Set(['properties', 'dependentSchemas', 'dependencies', '$defs']);

/** Whether a pattern may stand in it; what it refers to is not looked at, so a reference counts as one. */
function mayHoldPattern(schema: JsonValue | undefined): boolean {
  return schema !== undefined && /"(?:pattern|patternProperties|\$ref)":/.test(JSON.stringify(schema));
}

/**
 * A checkable schema without its patterns, for texts that are too long for them. It allows everything that
 * the whole schema allows, and perhaps more: where a schema asks that something does not match, or that
 * exactly one does, not knowing is not taken for a match.
 */
export function withoutPatterns(whole: JsonObject | boolean): JsonObject | boolean {
  const unevaluated: JsonObject[] = [];
  /** Something was taken out that would have looked at members: which ones are left over, nobody knows. */
  let isBlurred = false;

  function relax(schema: JsonValue | undefined): JsonValue | undefined {
    if (!isObject(schema)) return schema;
    const kept: JsonObject = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'pattern' || keyword === 'patternProperties') continue;
      if (ONE.has(keyword)) kept[keyword] = relax(value);
      else if (LIST.has(keyword) && Array.isArray(value)) kept[keyword] = value.map((each) => relax(each) ?? true);
      else if (MAP.has(keyword) && isObject(value)) kept[keyword] = relaxMap(value);
      else kept[keyword] = value;
    }
    dropUncertain(schema, kept);
    if (kept['unevaluatedProperties'] !== undefined || kept['unevaluatedItems'] !== undefined) unevaluated.push(kept);
    return kept;
  }

  function relaxMap(map: JsonObject): JsonObject {
    const relaxed = Object.create(null) as JsonObject;
    for (const [name, value] of Object.entries(map)) relaxed[name] = relax(value);
    return relaxed;
  }

  /** Takes out what could refuse more once it knows less. */
  function dropUncertain(schema: JsonObject, kept: JsonObject): void {
    const names = schema['patternProperties'];
    if (isObject(names) && Object.keys(names).length > 0) {
      delete kept['additionalProperties'];
      isBlurred = true;
    }
    if (mayHoldPattern(schema['not'])) delete kept['not'];
    if (mayHoldPattern(schema['if'])) {
      for (const keyword of ['if', 'then', 'else']) delete kept[keyword];
      isBlurred = true;
    }
    if (mayHoldPattern(schema['contains'])) {
      delete kept['maxContains'];
      // The compiler takes a `contains` that allows anything for one that has looked at nothing.
      isBlurred = true;
    }
    if (mayHoldPattern(schema['oneOf'])) {
      const { allOf, oneOf } = kept;
      delete kept['oneOf'];
      kept['allOf'] = [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }];
    }
  }

  const relaxed = relax(whole) as JsonObject | boolean;
  if (isBlurred) {
    for (const schema of unevaluated) {
      delete schema['unevaluatedProperties'];
      delete schema['unevaluatedItems'];
    }
  }
  return relaxed;
}
