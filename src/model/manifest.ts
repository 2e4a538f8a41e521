import * as z from 'zod';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Parameter } from './tool.js';

const text = z.string();

/** A JSON Schema, kept as it is. */
const Schema = z.custom<JsonObject>((value) => isObject(value), 'expected a JSON Schema object');

const ManifestParameter: z.ZodType<Parameter> = z.strictObject({
  name: text,
  type: text.min(1),
  required: z.boolean(),
  description: text,
  values: z.array(text).readonly().optional(),
});

/** How a tool is reached, without anything secret: a remote server by its URL, a local one by its command. */
const Provider = z.union([
  z.strictObject({ type: z.literal('mcp'), serverUrl: text, toolName: text }),
  z.strictObject({ type: z.literal('mcp'), command: text, args: z.array(text).readonly(), toolName: text }),
]);

/** The exportable description of one tool (SCH-2, SCH-7). */
export const Manifest = z.strictObject({
  /** `mcp.<server>.<tool>`. */
  id: text.startsWith('mcp.'),
  version: text.min(1),
  description: text,
  inputSchema: Schema,
  /** Absent when the tool declares no output. */
  outputSchema: Schema.optional(),
  /** Required ones first, then by name. */
  parameters: z.array(ManifestParameter).readonly(),
  provider: Provider,
  domains: z.array(text).readonly(),
  categories: z.array(text).readonly(),
  /** Present for a tool that its server did not list: how it was found, how sure that is, and that it cannot be called. */
  fallback: z
    .strictObject({
      provenance: z.enum(['parsed', 'guessed', 'declared', 'predicted']),
      rung: text.min(1),
      confidence: z.number().min(0).max(1),
      callable: z.literal(false),
    })
    .optional(),
});

/** See the schema of the same name. */
export type Manifest = z.infer<typeof Manifest>;

/** Takes a manifest into the marketplace; resolves when it is kept (SCH-7). */
export type RegisterCapability = (manifest: Manifest) => Promise<void>;
