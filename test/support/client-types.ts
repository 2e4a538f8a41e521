import { isObject, type JsonObject, type JsonValue } from '../../src/kernel/json.js';

type Schemas = Record<string, JsonObject>;

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);
const key = (name: string): string => JSON.stringify(name);

function objectType(schema: JsonObject): string {
  const properties = isObject(schema['properties']) ? (schema['properties'] as Schemas) : {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = Object.entries(properties).map(
    ([name, field]) => `${key(name)}${required.has(name) ? '' : '?'}: ${typeOf(field)}`,
  );
  const open = schema['additionalProperties'] === true || Object.keys(properties).length === 0;
  return `{ ${[...fields, ...(open ? ['[name: string]: unknown'] : [])].join('; ')} }`;
}

/** The TypeScript type of a JSON Schema, as far as our document uses JSON Schema. */
function typeOf(schema: JsonObject | JsonValue | undefined): string {
  if (!isObject(schema)) return 'unknown';
  const { $ref: reference, enum: values, const: fixed, anyOf, type, items } = schema;
  if (typeof reference === 'string') return `components['schemas'][${key(nameOf(reference))}]`;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (fixed !== undefined) return JSON.stringify(fixed);
  if (Array.isArray(anyOf)) return anyOf.map(typeOf).join(' | ');
  if (type === 'array') return `Array<${typeOf(items)}>`;
  if (type === 'object') return objectType(schema);
  if (type === 'integer' || type === 'number') return 'number';
  return typeof type === 'string' ? type : 'unknown';
}

function contentType(content: unknown): string {
  if (!isObject(content)) return '{ content?: never }';
  const types = Object.entries(content as Schemas).map(([type, { schema }]) => `${key(type)}: ${typeOf(schema)}`);
  return `{ content: { ${types.join('; ')} } }`;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonObject;
}

function parametersOf(parameters: readonly Parameter[], where: string): string {
  const own = parameters.filter((parameter) => parameter.in === where);
  if (own.length === 0) return `${where}?: never`;
  const fields = own.map(({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}`);
  return `${where}${own.some(({ required }) => required) ? '' : '?'}: { ${fields.join('; ')} }`;
}

function operationType(operation: JsonObject): string {
  const parameters = (operation['parameters'] ?? []) as unknown as Parameter[];
  const places = ['query', 'path', 'header', 'cookie'].map((where) => parametersOf(parameters, where));
  const body = isObject(operation['requestBody']) ? contentType(operation['requestBody']['content']) : undefined;
  const responses = Object.entries(operation['responses'] as Schemas).map(
    ([status, response]) =>
      `${/^\d+$/.test(status) ? status : key(status)}: { headers: { [name: string]: unknown } } & ${contentType(response['content'])}`,
  );
  return `{ parameters: { ${places.join('; ')} }; ${body ? `requestBody: ${body}` : 'requestBody?: never'}; responses: { ${responses.join('; ')} } }`;
}

/** The types of a client, made of an OpenAPI document: what `openapi-fetch` is given. */
export function clientTypes(document: JsonObject): string {
  const { schemas } = document['components'] as { schemas: Schemas };
  const paths = Object.entries(document['paths'] as Record<string, Schemas>).map(([path, operations]) => {
    const methods = Object.entries(operations).map(([method, operation]) => `${method}: ${operationType(operation)}`);
    return `  ${key(path)}: { ${methods.join('; ')} };`;
  });
  const named = Object.entries(schemas).map(([name, schema]) => `    ${key(name)}: ${typeOf(schema)};`);
  return [
    'export interface paths {',
    ...paths,
    '}',
    'export interface components {',
    '  schemas: {',
    ...named,
    '  };',
    '}',
    '',
  ].join('\n');
}
