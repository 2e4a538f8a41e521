import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Manifest } from '../model/manifest.js';
import type { ShownTransport } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import { sortParameters } from './parameters.js';
import { bareUrl, splitTarget } from './target.js';

/** The part of a server that an export may see: its transport as it is shown, never as it is used. */
export interface ExportedServer {
  readonly id: string;
  readonly title?: string;
  readonly shown: ShownTransport;
}

/** Servers do not version their tools. */
const VERSION = '1.0.0';

/** Keywords of a schema whose words have a meaning of their own. */
const STRUCTURAL: ReadonlySet<string> = new Set(['type', 'required', '$ref', '$schema', 'format']);

function hideTexts(value: JsonValue | undefined, hide: (text: string) => string): JsonValue | undefined {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((item) => hideTexts(item, hide) ?? null);
  if (!isObject(value)) return value;
  const hidden = Object.create(null) as JsonObject;
  for (const [key, child] of Object.entries(value)) {
    const isWord = STRUCTURAL.has(key) && !isObject(child);
    hidden[key] = isWord ? child : hideTexts(child, hide);
  }
  return hidden;
}

/** A schema without secrets; one that holds none is passed on as it is. */
function hideInSchema(schema: JsonValue | undefined, hide: (text: string) => string): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const text = JSON.stringify(schema);
  return hide(text) === text ? schema : (hideTexts(schema, hide) as JsonObject);
}

function providerOf(server: ExportedServer, toolName: string): Manifest['provider'] {
  const { type, target } = server.shown;
  if (type !== 'stdio') return { type: 'mcp', serverUrl: bareUrl(target), toolName };
  const [command = '', ...args] = splitTarget(target);
  return { type: 'mcp', command, args, toolName };
}

/**
 * The manifest of a tool (SCH-7). Where the server is comes from what may be shown of it; `hide`
 * removes known secrets from what the server says about its tools, should it repeat one.
 */
export function toolToManifest(
  tool: Tool,
  server: ExportedServer,
  hide: (text: string) => string = (text) => text,
): Manifest {
  const output = hideInSchema(tool.definition.outputSchema ?? tool.inferredOutput, hide);
  return {
    id: `mcp.${server.id}.${tool.name}`,
    version: VERSION,
    description: hide(tool.description),
    inputSchema: hideInSchema(tool.definition.inputSchema, hide) ?? { type: 'object' },
    ...(output ? { outputSchema: output } : {}),
    parameters: sortParameters(tool.parameters).map((parameter) => ({
      ...parameter,
      description: hide(parameter.description),
      ...(parameter.values ? { values: parameter.values.map((value) => hide(value)) } : {}),
    })),
    provider: providerOf(server, tool.name),
    domains: [...tool.domains],
    categories: [...tool.categories],
    ...fallbackOf(tool),
  };
}

/** What marks a tool that its server did not list (DISC-6). */
function fallbackOf({ provenance, rung, confidence }: Tool): Pick<Manifest, 'fallback'> {
  if (provenance === 'protocol' || rung === undefined) return {};
  return { fallback: { provenance, rung, confidence: confidence ?? 0, callable: false } };
}

/** A tool as a coordinator reads it (NEG-8). */
export interface ToolSignature {
  readonly tool_name: string;
  readonly description: string;
  /** The JSON Schema of its arguments. */
  readonly parameters: JsonObject;
  /** The JSON Schema of its result; empty when the tool declares none. */
  readonly returns: JsonObject;
}

/** The signature of a tool (NEG-8). */
export function toolSignature(tool: Tool): ToolSignature {
  const { inputSchema, outputSchema = tool.inferredOutput } = tool.definition;
  return {
    tool_name: tool.name,
    description: tool.description || tool.summary,
    parameters: isObject(inputSchema) ? inputSchema : { type: 'object' },
    returns: isObject(outputSchema) ? outputSchema : {},
  };
}
