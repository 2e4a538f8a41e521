import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../../kernel/json.js';
import { describeOperation, GROUPS } from './descriptions.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import type { DocumentedOperation, DocumentedResponse } from '../route.js';
import * as schemas from './schemas.js';

/** Failures that a route has because of how it is asked, not because of what it does. */
function commonFailures(route: DocumentedOperation): Record<string, string> {
  const hasInput = [route.params, route.query, route.body].some((input) => input !== undefined);
  return {
    ...(hasInput ? { 400: 'An input is not valid; `problems` names it.' } : {}),
    ...(route.scope ? { 401: 'The key or token is missing or not valid.' } : {}),
    403: route.scope ? 'This Host, this Origin or this caller may not do that.' : 'This Host or this Origin may not.',
    ...(route.body ? { 413: 'The body is too large.' } : {}),
    500: 'A bug in toolscout.',
  };
}

type Names = ReturnType<typeof nameSchemas>;

/** Every schema by its name; one that has two is known by the first. */
function nameSchemas(): z.core.$ZodRegistry<{ id: string }> {
  const named = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) if (!named.has(schema)) named.add(schema, { id });
  return named;
}

/** Draft 2020-12, as OpenAPI 3.1 wants it. */
const OPTIONS = { target: 'draft-2020-12', unrepresentable: 'any' } as const;

function bare(schema: object): JsonObject {
  const { $schema: _schema, $id: _id, id: _name, ...rest } = schema as JsonObject;
  return rest;
}

function reference(named: Names, schema: z.ZodType): JsonObject {
  const id = named.get(schema)?.id;
  if (id === undefined) throw new Error('A schema of a route has no name: export it from schemas.ts.');
  return { $ref: `#/components/schemas/${id}` };
}

function contentOf(named: Names, content: NonNullable<DocumentedResponse['content']>): JsonObject {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, { schema: reference(named, schema) }]),
  );
}

const TRACE_HEADER: JsonObject = {
  'X-Trace-Id': { description: 'The id of this request, for the log.', schema: { type: 'string' } },
};

function failureOf(named: Names, description: string): JsonObject {
  return {
    description,
    headers: TRACE_HEADER,
    content: { [PROBLEM_TYPE]: { schema: reference(named, schemas.Problem) } },
  };
}

function responsesOf(named: Names, route: DocumentedOperation): JsonObject {
  const common = Object.entries(commonFailures(route)).map(
    ([status, says]) => [status, failureOf(named, says)] as const,
  );
  const own = Object.entries(route.responses).map(([status, { description, content, headers = {} }]) => {
    const said = Object.entries(headers).map(([name, about]) => [
      name,
      { description: about, schema: { type: 'string' } },
    ]);
    const body = content ? { content: contentOf(named, content) } : {};
    return [status, { description, headers: { ...TRACE_HEADER, ...Object.fromEntries(said) }, ...body }] as const;
  });
  return Object.fromEntries([...common, ...own]) as JsonObject;
}

function parametersOf(schema: z.ZodObject | undefined, where: 'path' | 'query'): JsonValue[] {
  if (!schema) return [];
  const { properties, required } = z.toJSONSchema(schema, { ...OPTIONS, io: 'input' }) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties ?? {}).map(([name, field]) => {
    const { description, default: _default, ...rest } = field;
    return {
      name,
      in: where,
      required: where === 'path' || (required ?? []).includes(name),
      ...(typeof description === 'string' ? { description } : {}),
      schema: rest,
    };
  });
}

function operationOf(named: Names, route: DocumentedOperation): JsonObject {
  const parameters = [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query')];
  return {
    operationId: route.id,
    summary: route.summary,
    description: describeOperation(route),
    tags: [route.group],
    // The scope stands in an extension: names of scopes are for OAuth flows, which this document does not describe.
    security: route.scope ? [{ bearer: [] }, {}] : [],
    ...(route.scope ? { 'x-scope': route.scope } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: reference(named, route.body) } } } }
      : {}),
    responses: responsesOf(named, route),
  };
}

/** What a browser asks before a page of another origin may read something. */
function preflightOf(named: Names, { id, summary, group, params }: DocumentedOperation): JsonObject {
  const parameters = parametersOf(params, 'path');
  const header = (description: string): JsonObject => ({ description, schema: { type: 'string' } });
  return {
    operationId: `${id}Preflight`,
    summary: `Whether a page may read: ${summary}`,
    description: 'The preflight request of a browser. Needs no key.',
    tags: [group],
    security: [],
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: {
      204: {
        description: 'It may.',
        headers: {
          ...TRACE_HEADER,
          'Access-Control-Allow-Origin': header('Every origin.'),
          'Access-Control-Allow-Methods': header('What a page may do.'),
          'Access-Control-Allow-Headers': header('What it may send along.'),
        },
      },
      403: failureOf(named, 'This Host or this Origin may not.'),
    },
  };
}

/** The OpenAPI 3.1 document of these routes, made of the same definitions that answer and check. */
export function openApiDocument(
  routes: readonly DocumentedOperation[],
  { version }: { readonly version: string },
): JsonObject {
  const named = nameSchemas();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const operation = { [route.method.toLowerCase()]: operationOf(named, route) };
    const preflight = route.cors ? { options: preflightOf(named, route) } : {};
    paths[route.path] = { ...paths[route.path], ...operation, ...preflight };
  }
  // Answers are documented as they come out, requests as they go in.
  const output = z.toJSONSchema(named, { ...OPTIONS, io: 'output', uri: (id) => `#/components/schemas/${id}` });
  const requests = new Map(routes.flatMap(({ body }) => (body ? [[named.get(body)?.id, body] as const] : [])));
  const asGiven = (id: string, schema: object): JsonObject => {
    const body = requests.get(id);
    return bare(body ? z.toJSONSchema(body, { ...OPTIONS, io: 'input' }) : schema);
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'toolscout',
      version,
      description: 'Finds the right tool among hundreds of MCP servers and runs it through one guarded door.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'toolscout', url: 'https://github.com/toolscout/toolscout' },
    },
    tags: [...new Set(routes.map(({ group }) => group))].map((name) => ({ name, description: GROUPS[name] })),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'A key of http.auth, or a token.' } },
      schemas: Object.fromEntries(Object.entries(output.schemas).map(([id, schema]) => [id, asGiven(id, schema)])),
    },
  };
}
