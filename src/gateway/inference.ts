import { inferOutput, mayBeTried, safeInput } from '../discover/index.js';
import { messageOf } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { CallResult } from '../model/call.js';
import type { Config } from '../model/config.js';
import type { Store } from '../model/store.js';
import type { Tool } from '../model/tool.js';

/** What tools answer, inferred from one harmless call each where a user asked for that (DISC-9). */
export interface OutputInference {
  /** The inferred schema of what a tool answers; one that was tried in vain has none. */
  outputOf(tool: Tool): Promise<JsonObject | undefined>;
}

/** What inference needs. */
export interface OutputInferenceDeps {
  readonly store: Store;
  readonly log: Log;
  readonly config: () => Pick<Config, 'introspectOutputSchemas' | 'introspectionInputs'>;
  /** Runs a tool through the same door as everybody: rules, approval, validation, limits and audit. */
  readonly call: (tool: Tool, args: JsonObject) => Promise<CallResult>;
}

const SPACE = 'outputs';

/** Inference over the store: each definition is tried once, whatever came of it. */
export function createOutputInference(deps: OutputInferenceDeps): OutputInference {
  const running = new Map<string, Promise<JsonObject | undefined>>();

  const attempt = async (tool: Tool): Promise<JsonObject | undefined> => {
    const known = await deps.store.get(SPACE, tool.hash);
    if (isObject(known?.value)) return isObject(known.value['schema']) ? known.value['schema'] : undefined;
    const { introspectionInputs } = deps.config();
    const address = addressOf(tool.server, tool.name);
    const args = Object.hasOwn(introspectionInputs, address) ? introspectionInputs[address] : safeInput(tool);
    if (args === undefined) return undefined;
    const { success, result } = await deps.call(tool, args as JsonObject);
    const schema = success && result ? inferOutput(result) : undefined;
    await deps.store.put(SPACE, tool.hash, schema ? { schema } : {});
    return schema;
  };

  return {
    async outputOf(tool) {
      if (!deps.config().introspectOutputSchemas || !mayBeTried(tool)) return undefined;
      const started = running.get(tool.hash) ?? attempt(tool);
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
}

/** Tries tools one after the other, so that a server is never asked for many things at once. */
export async function inferAll(tools: readonly Tool[], outputs: OutputInference): Promise<void> {
  for (const tool of tools) await outputs.outputOf(tool);
}
