import { inferOutput, mayBeTried, safeInput } from '../../discover/index.js';
import { createEmitter } from '../../kernel/async/emitter.js';
import { messageOf } from '../../kernel/errors.js';
import { addressOf } from '../../kernel/ids.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { CallResult } from '../../model/call.js';
import type { Config } from '../../model/config.js';
import type { Store } from '../../model/store.js';
import type { Tool } from '../../model/tool.js';

/** What tools answer, inferred from one harmless call each where a user asked for that (DISC-9). */
export interface OutputInference {
  /**
   * The inferred output schema of a tool; `undefined` when the attempt failed. The tool is called only if `introspect`,
   * or else the configuration, allows it; earlier results are always available.
   */
  outputOf(tool: Tool, introspect?: boolean): Promise<JsonObject | undefined>;
  /** The tool with what is inferred of it. */
  withOutput(tool: Tool, introspect?: boolean): Promise<Tool>;
  /** Called after something new was inferred. */
  onInferred(listener: (tool: Tool) => void): void;
}

/** What inference needs. */
export interface OutputInferenceDeps {
  readonly store: Store;
  readonly log: Log;
  readonly config: () => Pick<Config, 'introspectOutputSchemas' | 'introspectionInputs'>;
  /** Runs a tool through the same path as every call: rules, approval, validation, limits and audit. */
  readonly call: (tool: Tool, args: JsonObject) => Promise<CallResult>;
}

const SPACE = 'outputs';

/** Inference over the store: each definition is tried once, whatever came of it. */
export function createOutputInference(deps: OutputInferenceDeps): OutputInference {
  const running = new Map<string, Promise<JsonObject | undefined>>();
  const inferred = createEmitter<Tool>();

  /** The stored schema of a definition; `null` when the attempt failed. */
  const recall = async (tool: Tool): Promise<JsonObject | null | undefined> => {
    const known = await deps.store.get(SPACE, tool.hash);
    if (!isObject(known?.value)) return undefined;
    return isObject(known.value['schema']) ? known.value['schema'] : null;
  };

  const attempt = async (tool: Tool): Promise<JsonObject | undefined> => {
    const known = await recall(tool);
    if (known !== undefined) return known ?? undefined;
    const { introspectionInputs } = deps.config();
    const address = addressOf(tool.server, tool.name);
    const args = Object.hasOwn(introspectionInputs, address) ? introspectionInputs[address] : safeInput(tool);
    if (args === undefined) return undefined;
    const { success, result } = await deps.call(tool, args as JsonObject);
    const schema = success && result ? inferOutput(result) : undefined;
    await deps.store.put(SPACE, tool.hash, schema ? { schema } : {});
    if (schema) inferred.emit({ ...tool, inferredOutput: schema });
    return schema;
  };

  const inference: OutputInference = {
    onInferred: (listener) => void inferred.on(listener),
    async withOutput(tool, introspect) {
      const inferredOutput = await inference.outputOf(tool, introspect);
      return inferredOutput ? { ...tool, inferredOutput } : tool;
    },
    async outputOf(tool, introspect = deps.config().introspectOutputSchemas) {
      if (!mayBeTried(tool)) return undefined;
      const look = async (): Promise<JsonObject | undefined> => (await recall(tool)) ?? undefined;
      const started = running.get(tool.hash) ?? (introspect ? attempt(tool) : look());
      running.set(tool.hash, started);
      try {
        return await started;
      } catch (thrown) {
        deps.log.debug('discover.uninferred', { server: tool.server, tool: tool.name, reason: messageOf(thrown) });
        return undefined;
      } finally {
        running.delete(tool.hash);
      }
    },
  };
  return inference;
}

/** Tries tools one after the other, so that a server is never asked for many things at once. */
export async function inferAll(
  tools: readonly Tool[],
  outputs: OutputInference,
  introspect?: boolean,
): Promise<Tool[]> {
  const seen: Tool[] = [];
  for (const tool of tools) seen.push(await outputs.withOutput(tool, introspect));
  return seen;
}
