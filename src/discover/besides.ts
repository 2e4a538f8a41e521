import { messageOf } from '../kernel/errors.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Upstream } from '../model/upstream.js';
import { listPrompts, listResources, listResourceTemplates, type Listed, type ListOptions } from './list.js';

/** What a server has besides tools. */
export interface Besides {
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
}

/**
 * Resources, templates and prompts of a server that says it has some. Of real servers that say so one in
 * four answers that it does not know the method, so whatever fails here counts as an empty list: it must
 * not cost the tools.
 */
export async function listBesides(
  upstream: Upstream,
  options: ListOptions & { readonly onFailed?: (method: string, reason: string) => void },
): Promise<Besides> {
  const list = async (
    capability: string,
    method: string,
    ask: (upstream: Upstream, options: ListOptions) => Promise<Listed>,
  ): Promise<JsonObject[]> => {
    if (!isObject(upstream.capabilities[capability])) return [];
    try {
      return (await ask(upstream, options)).items;
    } catch (thrown) {
      if (options.signal?.aborted || upstream.closed) throw thrown;
      options.onFailed?.(method, messageOf(thrown));
      return [];
    }
  };
  return {
    resources: await list('resources', 'resources/list', listResources),
    resourceTemplates: await list('resources', 'resources/templates/list', listResourceTemplates),
    prompts: await list('prompts', 'prompts/list', listPrompts),
  };
}
