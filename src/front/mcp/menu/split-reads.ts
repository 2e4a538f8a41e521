import { isObject, type JsonObject } from '../../../kernel/json.js';
import { instructionsFor, META_TOOLS, QUERY_NAME } from './meta-menu.js';

/** Of the five only what an agent needs: with a sixth tool, menu and instructions must still be within 600 tokens (META-9). */
function shortened({ title: _title, ...tool }: JsonObject): JsonObject {
  const { inputSchema } = tool;
  if (!isObject(inputSchema) || !isObject(inputSchema['properties'])) return tool;
  const { schemaTokens: _budget, ...properties } = inputSchema['properties'];
  return { ...tool, inputSchema: { ...inputSchema, properties } };
}

/** It takes what `execute_tool` takes. */
function queryTool({ inputSchema }: JsonObject): JsonObject {
  const schema = inputSchema as JsonObject & { properties: JsonObject };
  return {
    name: QUERY_NAME,
    description: 'execute_tool for tools that only read.',
    inputSchema: { ...schema, properties: { ...schema.properties, arguments: { type: 'object' } } },
    annotations: { readOnlyHint: true, destructiveHint: false },
  };
}

/** The menu with `splitReads`: the five and `query_tool`, which a host may allow for good (META-10). */
export const SPLIT_META_TOOLS: readonly JsonObject[] = META_TOOLS.flatMap((tool) =>
  tool['name'] === 'execute_tool' ? [queryTool(tool), shortened(tool)] : [shortened(tool)],
);

/** The instructions with `splitReads`. What is behind toolscout is said once: here, or in the menu where `isNamed`. */
export function splitInstructions(coverage: string, isNamed: boolean): string {
  const text = instructionsFor(coverage, 'query_tool (if it only reads) or execute_tool');
  return isNamed && coverage !== '' ? text.replace(` Behind it: ${coverage}.`, () => '') : text;
}
