import { messageOf } from '../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { compileRegex, type LinearRegex } from '../../kernel/patterns/regex.js';
import { keepKeywords } from './schema-keywords.js';
import { collectTargets, createRefResolver, referenceOf } from './schema-refs.js';
import { VALUE_COST_KEYWORD, valueCostOf } from './value-cost.js';

/** The keyword that says what one visit of a subschema costs; see {@link toCheckable}. */
export const COST_KEYWORD = 'x-cost';

/** A schema that can be compiled and run on hostile input at a bounded price. */
export interface CheckableSchema {
  readonly schema: JsonObject | boolean;
  /** Every pattern in it, compiled for the linear-time engine. */
  readonly patterns: ReadonlyMap<string, LinearRegex>;
  /** It asks which members nothing else has looked at; keeping track of that costs every run. */
  readonly hasUnevaluated: boolean;
  /** What was left out because it cannot be checked, each as one phrase. */
  readonly skipped: readonly string[];
}

/** Says that a schema is not checked at all, and why. */
class UncheckableSchema extends Error {
  override readonly name = 'UncheckableSchema';
}

/** Subschemas of one tool (seen: 510). Compiling costs about a quarter of a millisecond each. */
const MAX_SUBSCHEMAS = 2000;

/** Targets of references in one tool. */
const MAX_PARTS = 1000;

/** Subschemas that may apply to one single value once all references are followed. */
const MAX_EXPANDED = 20_000;

/** Length of all patterns of one tool together, repetitions counted (seen: 261 for one). */
const MAX_PATTERN = 5000;

/** A piece of the result: the schema itself, or the target of a reference. */
interface Part {
  readonly name: string;
  readonly source: JsonValue;
  schema: JsonObject | boolean;
  /** Subschemas of it that look at the very value it is applied to. */
  inPlace: number;
  /** Parts that it applies to that same value, as often as it does. */
  readonly appliesInPlace: Part[];
}

/** Where a subschema stands. */
interface SubschemaContext {
  readonly part: Part;
  /** It looks at the same value as its part, not at a child of it. */
  readonly inPlace: boolean;
  /** It may be visited once for every item or member of the data, so each visit must pay. */
  readonly repeated?: boolean;
}

const IN_PLACE_LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const IN_PLACE = ['not', 'if', 'then', 'else'] as const;
const REPEATED = ['additionalProperties', 'propertyNames', 'contains'] as const;
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'] as const;

/** Older dialects have tuples under `items`, and lack some keywords. */
function isOldDialect(schema: JsonObject): boolean {
  return typeof schema['$schema'] === 'string' && /\/draft-0[3-7]\//.test(schema['$schema']);
}

/** A rough size of a compiled pattern: a repetition counts as often as it repeats. */
function weightOf(pattern: string): number {
  let weight = pattern.length;
  for (const [, least, most] of pattern.matchAll(/\{(\d{1,6})(?:,(\d{0,6}))?\}/g)) weight += Number(most || least);
  return weight;
}

/**
 * Rewrites a tool's input schema, whatever its dialect, into a small part of 2020-12 that is safe to
 * compile: only known keywords with well-formed values, every local reference pointing to a part of
 * its own, nothing from the network. References, keywords that are
 * visited once for each item, and keywords whose time grows with the value are marked with their cost, so that the caller
 * can stop a check that costs too much.
 *
 * @throws UncheckableSchema when it is too deep, too large, or refers to itself without end.
 */
export function toCheckable(source: JsonValue | undefined): CheckableSchema {
  if (!isObject(source)) throw new UncheckableSchema('it is not an object');
  if (isDeeperThan(source, LIMITS.depth)) throw new UncheckableSchema(`it nests deeper than ${LIMITS.depth} levels`);

  const old = isOldDialect(source);
  const resolve = createRefResolver(source);
  const targets = collectTargets(source, resolve);
  const patterns = new Map<string, LinearRegex>();
  const skipped = new Set<string>();
  const parts = new Map<JsonValue, Part>();
  let subschemas = 0;
  let patternWeight = 0;
  let hasUnevaluated = false;

  function partOf(target: JsonValue): Part {
    let part = parts.get(target);
    if (!part) {
      if (parts.size >= MAX_PARTS) throw new UncheckableSchema(`it has more than ${MAX_PARTS} references`);
      part = { name: `p${parts.size}`, source: target, schema: true, inPlace: 0, appliesInPlace: [] };
      parts.set(target, part);
    }
    return part;
  }

  function canCheck(pattern: string): boolean {
    if (patterns.has(pattern)) return true;
    const weight = weightOf(pattern);
    try {
      if (patternWeight + weight > MAX_PATTERN) throw new Error('the patterns are too long');
      patterns.set(pattern, compileRegex(pattern));
      patternWeight += weight;
      return true;
    } catch (thrown) {
      skipped.add(`pattern ${pattern.slice(0, 80)}: ${messageOf(thrown)}`);
      return false;
    }
  }

  function refer(target: JsonValue, context: SubschemaContext): JsonObject {
    const part = partOf(target);
    if (context.inPlace) context.part.appliesInPlace.push(part);
    return { $ref: `#/$defs/${part.name}` };
  }

  function convert(schema: JsonValue | undefined, context: SubschemaContext): JsonObject | boolean {
    if (!isObject(schema)) return schema !== false;
    // What is referred to from elsewhere is converted once, as a part, and not here again.
    return targets.has(schema) ? refer(schema, context) : convertBody(schema, context);
  }

  function convertBody(schema: JsonValue, context: SubschemaContext): JsonObject | boolean {
    if (!isObject(schema)) return schema !== false;
    if (++subschemas > MAX_SUBSCHEMAS) {
      throw new UncheckableSchema(`it has more than ${MAX_SUBSCHEMAS} subschemas`);
    }
    if (context.inPlace) context.part.inPlace++;
    const before = subschemas;
    const { kept, size } = keepKeywords(schema, old);
    subschemas += size;
    if (typeof kept['pattern'] === 'string' && !canCheck(kept['pattern'])) delete kept['pattern'];
    convertReference(schema, kept, context);
    convertInPlace(schema, kept, context);
    convertChildren(schema, kept, { part: context.part, inPlace: false });
    if (context.repeated) kept[COST_KEYWORD] = 1 + subschemas - before;
    const valueCost = valueCostOf(kept);
    if (valueCost) kept[VALUE_COST_KEYWORD] = valueCost;
    return kept;
  }

  function convertReference(schema: JsonObject, kept: JsonObject, context: SubschemaContext): void {
    const reference = referenceOf(schema);
    if (reference === undefined) return;
    const target = resolve(reference);
    if (target === undefined) skipped.add(`$ref ${reference.slice(0, 200)}: it points outside the schema`);
    else Object.assign(kept, refer(target, context));
  }

  function convertInPlace(schema: JsonObject, kept: JsonObject, context: SubschemaContext): void {
    const inside = { part: context.part, inPlace: context.inPlace };
    for (const keyword of IN_PLACE_LISTS) {
      const list = schema[keyword];
      if (Array.isArray(list) && list.length > 0) kept[keyword] = list.map((each) => convert(each, inside));
    }
    for (const keyword of IN_PLACE) if (schema[keyword] !== undefined) kept[keyword] = convert(schema[keyword], inside);
    // `then` without `if` means nothing, and the compiler would say so.
    if (kept['if'] === undefined) for (const keyword of ['then', 'else']) delete kept[keyword];
    convertMap(schema, kept, 'dependencies', inside);
    if (!old) convertMap(schema, kept, 'dependentSchemas', inside);
  }

  function convertChildren(schema: JsonObject, kept: JsonObject, child: SubschemaContext): void {
    const repeated = { ...child, repeated: true };
    convertMap(schema, kept, 'properties', child);
    for (const keyword of old ? REPEATED : [...REPEATED, ...UNEVALUATED]) {
      if (schema[keyword] !== undefined) kept[keyword] = convert(schema[keyword], repeated);
    }
    hasUnevaluated ||= UNEVALUATED.some((keyword) => kept[keyword] !== undefined);
    convertPatternProperties(schema, kept, repeated);
    convertItems(schema, kept, child, repeated);
  }

  function convertMap(schema: JsonObject, kept: JsonObject, keyword: string, context: SubschemaContext): void {
    const map = schema[keyword];
    if (!isObject(map)) return;
    const converted: JsonObject = Object.create(null) as JsonObject;
    for (const [name, value] of Object.entries(map)) {
      // `dependencies` may also list the names that must come along.
      const names = keyword === 'dependencies' && Array.isArray(value);
      converted[name] = names ? value.filter((each) => typeof each === 'string') : convert(value, context);
    }
    kept[keyword] = converted;
  }

  function convertPatternProperties(schema: JsonObject, kept: JsonObject, context: SubschemaContext): void {
    const map = schema['patternProperties'];
    if (!isObject(map)) return;
    const converted: JsonObject = Object.create(null) as JsonObject;
    for (const [pattern, value] of Object.entries(map)) {
      if (canCheck(pattern)) converted[pattern] = convert(value, context);
      else {
        // Without the pattern, the remaining names are unknown.
        delete kept['additionalProperties'];
        delete kept['unevaluatedProperties'];
      }
    }
    kept['patternProperties'] = converted;
  }

  function convertItems(
    schema: JsonObject,
    kept: JsonObject,
    child: SubschemaContext,
    repeated: SubschemaContext,
  ): void {
    const { items } = schema;
    const tuple = Array.isArray(items) ? items : old ? undefined : schema['prefixItems'];
    const rest = Array.isArray(items) ? schema['additionalItems'] : items;
    if (Array.isArray(tuple) && tuple.length > 0) kept['prefixItems'] = tuple.map((each) => convert(each, child));
    if (rest !== undefined) kept['items'] = convert(rest, repeated);
  }

  const root = partOf(source);
  // Converting one part may find the next; a Map is walked in the order in which it grows.
  for (const part of parts.values()) part.schema = convertBody(part.source, { part, inPlace: true, repeated: true });
  refuseExplosion(parts.values());

  const defs: JsonObject = {};
  for (const part of parts.values()) defs[part.name] = part.schema;
  // Parts may refer to the root itself, so it is one of them and not their parent.
  const schema = parts.size === 1 && !targets.has(source) ? root.schema : { $ref: `#/$defs/${root.name}`, $defs: defs };
  return { schema, patterns, hasUnevaluated, skipped: [...skipped] };
}

/**
 * Refuses a schema that would look at one value again and again: 22 levels of `anyOf` with two
 * references each are four million visits, and a reference to itself never ends.
 */
function refuseExplosion(parts: Iterable<Part>): void {
  const expanded = new Map<Part, number>();
  const open = new Set<Part>();

  function expand(part: Part): number {
    const known = expanded.get(part);
    if (known !== undefined) return known;
    if (open.has(part)) throw new UncheckableSchema('it refers to itself without end');
    open.add(part);
    let count = part.inPlace;
    for (const applied of part.appliesInPlace) {
      count += expand(applied);
      if (count > MAX_EXPANDED) {
        throw new UncheckableSchema(`it expands to more than ${MAX_EXPANDED} subschemas`);
      }
    }
    open.delete(part);
    expanded.set(part, count);
    return count;
  }

  for (const part of parts) expand(part);
}
