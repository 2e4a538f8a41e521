import * as z from 'zod';

/** Any schema of the model. */
export type Schema = z.core.$ZodType;

/** The schemas a value may satisfy: defaults, optionality and transforms peeled off, unions opened. */
function alternatives(schema: Schema): Schema[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => alternatives(option as Schema));
  if (schema instanceof z.ZodPipe) return alternatives(schema.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return alternatives(schema.unwrap());
  }
  return [schema];
}

function childrenOf(schema: Schema, key: PropertyKey): Schema[] {
  return alternatives(schema).flatMap((option) => {
    if (option instanceof z.ZodArray) return alternatives(option.element);
    if (option instanceof z.ZodRecord) return alternatives(option.valueType);
    if (option instanceof z.ZodObject && Object.hasOwn(option.shape, key)) {
      return alternatives(option.shape[String(key)] as Schema);
    }
    return [];
  });
}

/** The schemas that apply at a path below `schema`. */
export function schemasAt(schema: Schema, path: readonly PropertyKey[]): Schema[] {
  let here = alternatives(schema);
  for (const key of path) here = here.flatMap((option) => childrenOf(option, key));
  return here;
}

/** The keys an object at that place may have. */
export function keysOf(schemas: readonly Schema[]): string[] {
  return schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
}

function expectationOf(schema: Schema): string {
  if (schema instanceof z.ZodEnum) return `one of ${schema.options.map((option) => JSON.stringify(option)).join(', ')}`;
  if (schema instanceof z.ZodNumberFormat) return 'a whole number';
  if (schema instanceof z.ZodNumber) return 'a number';
  if (schema instanceof z.ZodBoolean) return 'true or false';
  if (schema instanceof z.ZodLiteral) return [...schema.values].map((value) => JSON.stringify(value)).join(' or ');
  if (schema instanceof z.ZodURL) return 'an http or https URL';
  if (schema instanceof z.ZodString) return 'a string';
  if (schema instanceof z.ZodArray) return 'a list';
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return 'an object';
  // All that is left is what may be any JSON.
  return 'plain data';
}

/** What is expected at that place, in words: `a string or a list`. */
export function expectation(schemas: readonly Schema[]): string {
  return [...new Set(schemas.map((schema) => expectationOf(schema)))].join(' or ');
}

/**
 * Whether the value found there may be quoted. Only where a number, a switch or a fixed word is
 * expected: everywhere else a misplaced value can be a credential.
 */
export function isQuotable(schemas: readonly Schema[]): boolean {
  return (
    schemas.some((s) => s instanceof z.ZodNumber || s instanceof z.ZodBoolean || s instanceof z.ZodEnum) &&
    !schemas.some((s) => s instanceof z.ZodString)
  );
}
