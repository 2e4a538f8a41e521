import { messageOf } from '../kernel/errors.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Upstream } from '../model/upstream.js';
import { listPrompts, listResources, listResourceTemplates, type Listed, type ListOptions } from './list.js';
import type { BadItem } from './salvage.js';

/** What a server has besides tools. */
export interface Besides {
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
}

/** How the lists besides the tools are fetched, and who gets the failures. */
export interface BesidesOptions extends ListOptions {
  /** Tries again what may succeed a moment later. */
  readonly retry?: <T>(task: () => Promise<T>) => Promise<T>;
  /** Called for a list that was announced and not returned, or not completely. */
  readonly onFailed?: (method: string, reason: string) => void;
  /** Called for every entry that could not be kept. */
  readonly onDropped?: (method: string, bad: BadItem) => void;
}

/**
 * Resources, templates and prompts of a server that declares them. One in four real servers that do so answers "method
 * not found", so a failure here counts as an empty list: it must not cost the tools. A list that failed on retry is not
 * waited for again.
 */
export async function listBesides(upstream: Upstream, options: BesidesOptions): Promise<Besides> {
  let { retry } = options;
  const list = async (
    capability: string,
    method: string,
    ask: (upstream: Upstream, options: ListOptions) => Promise<Listed>,
  ): Promise<JsonObject[]> => {
    if (!isObject(upstream.capabilities[capability])) return [];
    const task = (): Promise<Listed> => ask(upstream, options);
    try {
      const { items, bad, truncated } = await (retry ? retry(task) : task());
      for (const each of bad) options.onDropped?.(method, each);
      if (truncated !== undefined) options.onFailed?.(method, truncated);
      return items;
    } catch (thrown) {
      if (options.signal?.aborted || upstream.closed) throw thrown;
      options.onFailed?.(method, messageOf(thrown));
      retry = undefined;
      return [];
    }
  };
  return {
    resources: await list('resources', 'resources/list', listResources),
    resourceTemplates: await list('resources', 'resources/templates/list', listResourceTemplates),
    prompts: await list('prompts', 'prompts/list', listPrompts),
  };
}
