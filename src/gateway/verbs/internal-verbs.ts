import type { ServerFacts } from '../../catalog/catalog.js';
import { coverageOf } from '../../catalog/coverage.js';
import { isUsable } from '../../catalog/catalog.js';
import type { LoadedConfig } from '../../config/index.js';
import type { Viewer } from '../../model/viewer.js';
import { createLineage } from '../../protocol/lineage.js';
import type { Admission } from '../admission.js';
import type { Core } from '../core.js';
import { createKeptLinks } from '../kept-links.js';
import { createRequestStates } from '../request-states.js';
import { callerOf } from '../viewer.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** The configuration in force without the servers that a viewer does not see. */
export function loadedFor({ loaded }: Core, viewer: Viewer): LoadedConfig {
  const caller = callerOf(viewer);
  if (!caller.isLimited) return loaded;
  const entries = Object.entries(loaded.config.servers).filter(([id]) => caller.sees(id));
  const config = { ...loaded.config, servers: Object.fromEntries(entries) };
  return { ...loaded, config, servers: loaded.servers.filter(({ id }) => caller.sees(id)), warnings: [] };
}

/** The verbs of the facet `internal`. */
export function internalVerbs(
  core: Core,
  admission: Admission,
): VerbTable<
  | 'internal.coverage'
  | 'internal.afford'
  | 'internal.budget'
  | 'internal.knownFacts'
  | 'internal.keepLinks'
  | 'internal.lineage'
  | 'internal.linkGivers'
  | 'internal.loaded'
  | 'internal.sealState'
  | 'internal.openState'
  | 'internal.overload'
  | 'internal.reserve'
  | 'internal.settle'
> {
  const lineage = core.deps.lineage ?? createLineage({ clock: core.deps.clock });
  const states = createRequestStates(core.deps);
  const links = createKeptLinks(core.deps);
  return defineVerbs({
    'internal.coverage'(viewer) {
      return coverageOf([...core.catalog.servers.values()].filter(({ id }) => viewer.sees(id)));
    },

    async 'internal.knownFacts'(viewer) {
      await core.filled();
      const facts = new Map<string, ServerFacts>();
      if (viewer.skill) return facts;
      for (const server of core.catalog.servers.values()) {
        const told = core.catalog.items(server.id)?.facts;
        if (told && isUsable(server) && viewer.sees(server.id)) facts.set(server.id, told);
      }
      return facts;
    },

    'internal.lineage': (_viewer) => lineage,

    'internal.loaded': (viewer) => loadedFor(core, viewer),

    'internal.budget'(_viewer, tool, asked) {
      const server = core.catalog.servers.get(tool.server);
      return server && core.own.budget(server, tool, asked);
    },

    async 'internal.afford'(viewer, tool, result, readBy) {
      return (await core.own.answer(viewer, tool, result, readBy)).result;
    },

    'internal.sealState': (_viewer, payload, binding, use) => states.seal(payload, binding, use),

    'internal.openState': (_viewer, state, binding, use) => states.open(state, binding, use),

    'internal.keepLinks': (viewer, server, uris) => links.keep(viewer, server, uris),

    'internal.linkGivers': (viewer, uri) => links.giversOf(viewer, uri),

    'internal.overload': (_viewer) => admission.status(),

    'internal.reserve': (_viewer, bytes) => admission.reserve(bytes),

    async 'internal.settle'(_viewer, patienceMs) {
      await core.filled();
      await core.learner.settle([...core.catalog.servers.keys()], patienceMs);
    },
  });
}
