import type { Server } from '../../model/server.js';
import type { Core } from '../core.js';
import { examine } from '../reports/doctor.js';
import { evaluate } from '../reports/evaluation.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** The verbs of the facet `reports`. */
export function reportVerbs(core: Core): VerbTable<'reports.doctor' | 'reports.evaluate'> {
  const { clock, knowledge, pool, store } = core.deps;
  return defineVerbs({
    async 'reports.doctor'(_viewer, options) {
      await core.filled();
      const { loaded, catalog, learner, hide } = core;
      const waiting = (server: Server): number =>
        core.approvals.list([server]).filter(({ state }) => state === 'pending').length;
      return examine(
        { doubt: core.approvals.doubt(), loaded, catalog, learner, pool, store, hide, clock, waiting },
        options,
      );
    },

    async 'reports.evaluate'(_viewer, queries, { tools } = {}) {
      await core.filled();
      return evaluate(queries, tools, { index: core.catalog.index, loaded: core.loaded, store, clock, knowledge });
    },
  });
}
