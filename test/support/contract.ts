import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../src/kernel/json.js';

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: JsonObject }> }>;
}

/** Holds every answer against the OpenAPI document: status, content type and body. */
export interface Contract {
  /** The answer, unchanged; throws when the document does not have it. */
  check(request: Request, response: Response): Promise<Response>;
  /** What is documented and did not occur yet, as `operation status`. */
  missing(): string[];
}

/** Apps of many tests share a document, and compiling its schemas takes longer than most of these tests. */
const compiled = new WeakMap<JsonObject, Ajv2020>();

function compile(document: JsonObject): Ajv2020 {
  const known = compiled.get(document);
  if (known) return known;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: 'doc', ...document });
  compiled.set(document, ajv);
  return ajv;
}

/** A checker over one document. */
export function createContract(document: JsonObject): Contract {
  const ajv = compile(document);
  const paths = document['paths'] as unknown as Record<string, Record<string, Operation>>;
  const occurred = new Set<string>();

  const find = (method: string, path: string): Operation | undefined => {
    const segments = path.split('/');
    const [, operations] =
      Object.entries(paths).find(([template]) => template === path) ??
      Object.entries(paths).find(([template]) => {
        const wanted = template.split('/');
        const fits = (part: string, at: number): boolean => part.startsWith('{') || part === segments[at];
        return wanted.length === segments.length && wanted.every(fits);
      }) ??
      [];
    return operations?.[method.toLowerCase()];
  };

  return {
    async check(request, response) {
      const { pathname } = new URL(request.url);
      const operation = find(request.method, pathname);
      if (!operation) return response;
      const { status } = response;
      const what = `${operation.operationId} ${status}`;
      const key = String(status) in operation.responses ? String(status) : `${String(status)[0]}XX`;
      const documented = operation.responses[key];
      if (!documented) throw new Error(`${what} is not documented: ${await response.clone().text()}`);
      if (!response.headers.get('x-trace-id')) throw new Error(`${what} has no X-Trace-Id`);
      occurred.add(`${operation.operationId} ${key}`);
      const type = response.headers.get('content-type')?.split(';')[0];
      if (!documented.content) {
        const body = await response.clone().text();
        if (body !== '') throw new Error(`${what} has a body that is not documented`);
        return response;
      }
      const schema = documented.content[type ?? ''];
      if (!schema) throw new Error(`${what} has the content type ${type}, which is not documented`);
      if (!type?.endsWith('json')) {
        occurred.add(`${operation.operationId} ${key} ${type}`);
        return response;
      }
      const reference = `doc${String(schema.schema['$ref'])}`;
      const validate = ajv.getSchema(reference) ?? ajv.compile({ $ref: reference });
      const body: unknown = await response.clone().json();
      if (!validate(body)) throw new Error(`${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
      return response;
    },
    missing() {
      const wanted = Object.values(paths).flatMap((operations) =>
        Object.values(operations).flatMap(({ operationId, responses }) =>
          Object.entries(responses).flatMap(([status, { content = {} }]) => [
            `${operationId} ${status}`,
            ...Object.keys(content)
              .filter((type) => !type.endsWith('json'))
              .map((type) => `${operationId} ${status} ${type}`),
          ]),
        ),
      );
      return wanted.filter((each) => !occurred.has(each));
    },
  };
}
