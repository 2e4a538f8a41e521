import type { AnySchemaObject } from 'ajv';
import { messageOf } from '../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonValue } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { oneLine } from '../../kernel/text.js';
import type { Tool } from '../../model/tool.js';

/** Feedback on the tools of a server for its author (NEG-8). */
export interface SchemaFindings {
  readonly server: string;
  readonly tools: number;
  /** Schemas that are not valid JSON Schema. */
  readonly invalid: ReadonlyArray<{ readonly tool: string; readonly field: string; readonly problem: string }>;
  /** Tools without a description. */
  readonly undescribed: readonly string[];
  /** Tools that declare no output. */
  readonly withoutOutput: readonly string[];
}

type Judge = (schema: JsonValue | undefined) => string | undefined;

/** Longest complaint about one schema. */
const MAX_LENGTH = 160;

/** Says what is wrong with a schema, by the meta-schema of 2020-12; drafts that a schema names are not insisted on. */
async function createJudge(): Promise<Judge> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });
  return (schema) => {
    if (typeof schema === 'boolean') return undefined;
    if (!isObject(schema)) return 'it is not an object';
    if (isDeeperThan(schema, LIMITS.depth)) return `it nests deeper than ${LIMITS.depth} levels`;
    const { $schema: _draft, $id: _id, ...rest } = schema;
    try {
      if (ajv.validateSchema(rest as AnySchemaObject) === true) return undefined;
      const [error] = ajv.errors ?? [];
      return oneLine(`${error?.instancePath || 'the schema'} ${error?.message ?? 'is not valid'}`, MAX_LENGTH);
    } catch (thrown) {
      return oneLine(messageOf(thrown), MAX_LENGTH);
    }
  };
}

/** Looks through the tools of one server. */
function look(server: string, tools: readonly Tool[], judge: Judge): SchemaFindings {
  const invalid = tools.flatMap(({ name, definition }) =>
    ['inputSchema', 'outputSchema'].flatMap((field) => {
      const schema = definition[field];
      if (field === 'outputSchema' && schema === undefined) return [];
      const problem = judge(schema);
      return problem === undefined ? [] : [{ tool: name, field, problem }];
    }),
  );
  return {
    server,
    tools: tools.length,
    invalid,
    undescribed: tools.filter(({ description }) => description.trim() === '').map(({ name }) => name),
    withoutOutput: tools.filter(({ definition }) => !isObject(definition['outputSchema'])).map(({ name }) => name),
  };
}

/** Looks through the tools of every server, in the order given. */
export async function findSchemaFaults(
  servers: ReadonlyArray<{ readonly id: string; readonly tools: readonly Tool[] }>,
): Promise<SchemaFindings[]> {
  const withTools = servers.filter(({ tools }) => tools.length > 0);
  if (withTools.length === 0) return [];
  const judge = await createJudge();
  return withTools.map(({ id, tools }) => look(id, tools, judge));
}
