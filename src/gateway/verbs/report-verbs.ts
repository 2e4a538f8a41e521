import type { Server } from '../../model/server.js';
import type { Core } from '../core.js';
import { examine } from '../reports/doctor.js';
import { evaluate } from '../reports/evaluation.js';
import { definitionsOf, definitionsOfFile, scan } from '../reports/scan.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** The verbs of the facet `reports`. */
export function reportVerbs(core: Core): VerbTable<'reports.doctor' | 'reports.evaluate' | 'reports.scan'> {
  const { clock, knowledge, pool, store } = core.deps;
  return defineVerbs({
    async 'reports.doctor'(_viewer, options) {
      await core.filled();
      const { loaded, catalog, learner, hide } = core;
      // With `lock` a decision about a request that is left from before has no effect.
      const waiting = (server: Server): number =>
        loaded.config.approval === 'lock'
          ? 0
          : core.approvals.list([server]).filter(({ state }) => state === 'pending').length;
      return examine(
        { doubt: core.approvals.doubt(), loaded, catalog, learner, pool, store, hide, clock, waiting },
        options,
      );
    },

    async 'reports.evaluate'(_viewer, queries, { tools } = {}) {
      await core.filled();
      return evaluate(queries, tools, { index: core.catalog.index, loaded: core.loaded, store, clock, knowledge });
    },

    async 'reports.scan'(_viewer, { servers, tools } = {}) {
      if (tools) return scan(definitionsOfFile(tools), tools.length);
      await core.filled();
      const { catalog } = core;
      const ids = servers ? servers.map((id) => catalog.server(id).id) : [...catalog.servers.keys()];
      const { all, unknown } = definitionsOf(catalog, ids);
      return scan(all, ids.length - unknown.length, unknown);
    },
  });
}
