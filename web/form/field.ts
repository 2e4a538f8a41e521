import type { Json, JsonObject } from '../api/types.js';

interface Common {
  /** The name of the property, or the title of the schema. */
  readonly label: string;
  readonly description?: string;
  readonly required: boolean;
  readonly nullable: boolean;
  readonly initial?: Json;
}

/** One input of a form, made from a JSON Schema. */
export type Field = Common &
  (
    | {
        readonly kind: 'text';
        readonly format?: string;
        readonly minLength?: number;
        readonly maxLength?: number;
        readonly pattern?: string;
        readonly examples: readonly string[];
      }
    | {
        readonly kind: 'number';
        readonly integer: boolean;
        readonly minimum?: number;
        readonly maximum?: number;
        readonly above?: number;
        readonly below?: number;
        readonly multipleOf?: number;
      }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'choice'; readonly options: ReadonlyArray<{ readonly label: string; readonly value: Json }> }
    | {
        readonly kind: 'object';
        readonly fields: ReadonlyArray<{ readonly name: string; readonly field: Field }>;
        /** What the schema says of names besides these: it refuses them, it expects some, or it says nothing. */
        readonly others: 'refused' | 'expected' | 'unsaid';
      }
    | {
        readonly kind: 'list';
        readonly item: Field;
        readonly minItems?: number;
        readonly maxItems?: number;
        readonly unique: boolean;
      }
    | { readonly kind: 'union'; readonly variants: readonly Field[] }
    /** Anything that no other input can hold: written as JSON. */
    | { readonly kind: 'json' }
  );

/** Deeper than this a form is no help; the value is written as JSON. */
const MAX_DEPTH = 6;
/** A schema of a hostile server may be of any size. */
const MAX_FIELDS = 400;

interface Place {
  readonly root: JsonObject;
  readonly depth: number;
  readonly label: string;
  readonly required: boolean;
  readonly budget: { left: number };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Follows references inside the schema, a few at most: they may lead in a circle. */
function resolve(schema: JsonObject, root: JsonObject, hops = 8): JsonObject {
  const target = schema['$ref'];
  if (typeof target !== 'string' || hops === 0) return schema;
  if (!target.startsWith('#')) return {};
  let found: Json | undefined = root;
  for (const part of target.slice(1).split('/').filter(Boolean)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  if (!isObject(found)) return {};
  const { $ref: _, ...own } = schema;
  return { ...resolve(found, root, hops - 1), ...own };
}

/** One schema that says what all parts of `allOf` say, as far as a form can. */
function merge(schema: JsonObject, root: JsonObject): JsonObject {
  const parts = schema['allOf'];
  if (!Array.isArray(parts)) return schema;
  const { allOf: _, ...own } = schema;
  const merged: JsonObject = { ...own };
  for (const raw of parts.filter(isObject)) {
    const part = resolve(raw, root);
    const required = [merged, part].flatMap((one) => (Array.isArray(one['required']) ? one['required'] : []));
    const properties = Object.assign({}, ...[part, merged].map((one) => one['properties'])) as JsonObject;
    for (const [name, value] of Object.entries(part)) merged[name] ??= value;
    if (required.length > 0) merged['required'] = required;
    if (Object.keys(properties).length > 0) merged['properties'] = properties;
  }
  return merged;
}

function choiceLabel(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function choices(schema: JsonObject): ReadonlyArray<{ label: string; value: Json }> | undefined {
  if (Array.isArray(schema['enum'])) {
    const names = Array.isArray(schema['enumNames']) ? schema['enumNames'] : [];
    return schema['enum'].map((value, index) => ({ label: textOf(names[index]) ?? choiceLabel(value), value }));
  }
  if (Object.hasOwn(schema, 'const')) return [{ label: choiceLabel(schema['const']!), value: schema['const']! }];
  // A list of constants with titles is how MCP writes a choice with labels.
  const variants = schema['oneOf'] ?? schema['anyOf'];
  if (
    Array.isArray(variants) &&
    variants.length > 0 &&
    variants.every((one) => isObject(one) && Object.hasOwn(one, 'const'))
  ) {
    return (variants as JsonObject[]).map((one) => ({
      label: textOf(one['title']) ?? choiceLabel(one['const']!),
      value: one['const']!,
    }));
  }
  return undefined;
}

function typesOf(schema: JsonObject): string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((one): one is string => typeof one === 'string');
  if (isObject(schema['properties'])) return ['object'];
  if (schema['items'] !== undefined) return ['array'];
  return [];
}

function objectField(schema: JsonObject, place: Place, common: Common): Field {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = Object.entries(properties).map(([name, property]) => ({
    name,
    field: toField(isObject(property) ? property : {}, {
      ...place,
      depth: place.depth + 1,
      label: name,
      required: required.has(name),
    }),
  }));
  // What must be given comes first; otherwise the order of the server stands.
  fields.sort((a, b) => Number(b.field.required) - Number(a.field.required));
  if (fields.length === 0 && place.depth > 0) return { ...common, kind: 'json' };
  return { ...common, kind: 'object', fields, others: othersOf(schema, fields.length) };
}

/** Keywords that bring names of their own, which a form does not know. */
const MORE_NAMES = ['patternProperties', 'anyOf', 'oneOf', 'if', 'dependentSchemas', 'dependencies'];

function othersOf(schema: JsonObject, count: number): 'refused' | 'expected' | 'unsaid' {
  const { additionalProperties: others } = schema;
  if (others === false && schema['patternProperties'] === undefined) return 'refused';
  const hasMore = others !== undefined || MORE_NAMES.some((keyword) => schema[keyword] !== undefined);
  return hasMore || count === 0 ? 'expected' : 'unsaid';
}

function simpleField(type: string | undefined, schema: JsonObject, place: Place, common: Common): Field {
  switch (type) {
    case 'string': {
      const examples = Array.isArray(schema['examples'])
        ? schema['examples'].filter((one): one is string => typeof one === 'string')
        : [];
      return {
        ...common,
        kind: 'text',
        examples: examples.slice(0, 5),
        ...pick({
          format: textOf(schema['format']),
          minLength: numberOf(schema['minLength']),
          maxLength: numberOf(schema['maxLength']),
          pattern: textOf(schema['pattern']),
        }),
      };
    }
    case 'number':
    case 'integer':
      return {
        ...common,
        kind: 'number',
        integer: type === 'integer',
        ...pick({
          minimum: numberOf(schema['minimum']),
          maximum: numberOf(schema['maximum']),
          above: numberOf(schema['exclusiveMinimum']),
          below: numberOf(schema['exclusiveMaximum']),
          multipleOf: numberOf(schema['multipleOf']),
        }),
      };
    case 'boolean':
      return { ...common, kind: 'boolean' };
    case 'object':
      return objectField(schema, place, common);
    case 'array': {
      const item = isObject(schema['items']) ? schema['items'] : {};
      return {
        ...common,
        kind: 'list',
        item: toField(item, { ...place, depth: place.depth + 1, label: 'item', required: true }),
        unique: schema['uniqueItems'] === true,
        ...pick({ minItems: numberOf(schema['minItems']), maxItems: numberOf(schema['maxItems']) }),
      };
    }
    default:
      return { ...common, kind: 'json' };
  }
}

/** Leaves out what is `undefined`. */
function pick<T extends object>(values: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: NonNullable<T[Key]>;
  };
}

function unionField(variants: readonly JsonObject[], place: Place, common: Common): Field {
  const fields = variants.map((variant, index) => {
    const label =
      textOf(variant['title']) ??
      textOf(variant['description'])?.slice(0, 60) ??
      (typesOf(variant).join(' or ') || `form ${index + 1}`);
    return toField(variant, { ...place, depth: place.depth + 1, label, required: true });
  });
  return { ...common, kind: 'union', variants: fields };
}

function toField(raw: JsonObject, place: Place): Field {
  place.budget.left -= 1;
  const schema = merge(resolve(raw, place.root), place.root);
  const types = typesOf(schema);
  const written = (schema['anyOf'] ?? schema['oneOf']) as Json | undefined;
  const variants = Array.isArray(written)
    ? written.filter(isObject).map((one) => merge(resolve(one, place.root), place.root))
    : [];
  const others = variants.filter((one) => one['type'] !== 'null');
  const common: Common = {
    label: place.label,
    required: place.required,
    nullable: types.includes('null') || others.length < variants.length,
    ...pick({
      description:
        textOf(schema['description']) ?? (place.label === schema['title'] ? undefined : textOf(schema['title'])),
      initial: schema['default'],
    }),
  };
  if (place.depth > MAX_DEPTH || place.budget.left < 0) return { ...common, kind: 'json' };
  const options = choices(schema);
  if (options) return { ...common, kind: 'choice', options };
  if (others.length === 1) {
    const { anyOf: _, oneOf: __, ...own } = schema;
    return { ...toField({ ...others[0]!, ...own }, { ...place, depth: place.depth + 1 }), nullable: common.nullable };
  }
  if (others.length > 1 && types.length === 0) return unionField(others, place, common);
  const named = types.filter((type) => type !== 'null');
  if (named.length > 1)
    return unionField(
      named.map((type) => ({ ...schema, type, title: type, description: '' })),
      place,
      common,
    );
  return simpleField(named[0], schema, place, common);
}

/** The form of an input schema. Whatever the schema is, the answer is a form of a bounded size. */
export function fieldOf(schema: Json | undefined, label = 'Arguments'): Field {
  const root = isObject(schema) ? schema : {};
  return toField({ type: 'object', ...root }, { root, depth: 0, label, required: true, budget: { left: MAX_FIELDS } });
}
