import { OWN_SERVER } from '../../answers/index.js';
import type { OutputInference } from '../../catalog/learning/inference.js';
import { isFallback, type Tool } from '../../model/tool.js';
import type { Core } from '../core.js';
import { isSeen, requireServer } from '../viewer.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { findShown } from './search-verbs.js';

const isOffered = ({ status }: Tool): boolean => status === 'enabled';

/** The verbs of the facet `tools`. */
export function toolVerbs(
  core: Core,
  outputs: OutputInference,
): VerbTable<
  | 'tools.list'
  | 'tools.offered'
  | 'tools.definition'
  | 'tools.signature'
  | 'tools.declaration'
  | 'tools.cacheStats'
  | 'tools.clearCache'
  | 'tools.forgetUsage'
> {
  const { audit, cache, store } = core.deps;
  return defineVerbs({
    async 'tools.list'(viewer, server, options = {}) {
      if (server === OWN_SERVER) return core.own.tools().filter(isOffered);
      requireServer(viewer, server, core.catalog);
      await core.known(server, options, { standIn: true });
      const tools = core.catalog.index.tools(server);
      // A skill never sees disabled tools.
      const { includeDisabled, includeFallback } = viewer.skill ? {} : options;
      // Pending and quarantined tools are shown only to those who decide about them (A11).
      const isShown = (tool: Tool): boolean =>
        isOffered(tool) ||
        (includeDisabled === true && tool.status === 'disabled') ||
        (includeFallback === true && isFallback(tool));
      return tools.filter((tool) => isShown(tool) && isSeen(viewer, tool));
    },

    async 'tools.offered'(viewer) {
      await core.filled();
      const offered = core.catalog.index.tools().filter((tool) => isOffered(tool) && isSeen(viewer, tool));
      // By name within a server already; the sort keeps that.
      return offered.toSorted((a, b) => (a.server === b.server ? 0 : a.server < b.server ? -1 : 1));
    },

    'tools.definition'(viewer, server, name) {
      if (server === OWN_SERVER) return core.own.find(name)?.definition;
      return viewer.sees(server, name) ? core.catalog.index.tool(server, name)?.definition : undefined;
    },

    async 'tools.signature'(viewer, server, name, options) {
      const tool = await findShown(core, viewer, server, name, options);
      const { toolSignature } = await import('../../export/index.js');
      return toolSignature(await outputs.withOutput(tool));
    },

    async 'tools.declaration'(viewer, server, name, options) {
      const tool = await findShown(core, viewer, server, name, options);
      const { toolDeclaration } = await import('../../export/index.js');
      return toolDeclaration(await outputs.withOutput(tool), options);
    },

    async 'tools.clearCache'({ principal }, server) {
      await core.filled();
      if (server !== undefined) core.catalog.server(server);
      // Answers of the registry belong to no server: they are deleted only when everything is.
      const answers = server === undefined ? await store.clear('registry') : 0;
      const cleared = (await cache.clear(server)) + answers;
      await audit.recordNow({
        kind: 'cache-clear',
        principal,
        server,
        outcome: 'success',
        detail: { cleared },
      });
      return cleared;
    },

    async 'tools.forgetUsage'({ principal }) {
      const forgotten = await core.experience.forget();
      await audit.recordNow({ kind: 'usage-forgotten', principal, outcome: 'success', detail: { forgotten } });
      return forgotten;
    },

    'tools.cacheStats': (_viewer) => cache.stats(),
  });
}
