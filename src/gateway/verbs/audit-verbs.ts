import { addUp, createDefinitionTokens, groupsFor } from '../reports/stats.js';
import type { Core } from '../core.js';
import { isSeen } from '../viewer.js';
import type { Tool } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** The verbs of the facet `audit`, and what is counted in tokens for the metrics. */
export function auditVerbs(
  core: Core,
): VerbTable<'audit.list' | 'audit.follow' | 'audit.verify' | 'audit.export' | 'audit.stats' | 'internal.tokens'> {
  const { audit } = core.deps;
  const definitionTokens = createDefinitionTokens();
  const offeredTo = (viewer: Viewer): Tool[] =>
    core.catalog.index.tools().filter((tool) => tool.status === 'enabled' && isSeen(viewer, tool));
  return defineVerbs({
    'audit.list': (_viewer, filter = {}) => audit.query(filter),
    'audit.follow': (_viewer, listener, filter = {}) => audit.follow(filter, listener),
    'audit.verify': (_viewer, { heads } = {}) => audit.verify(heads),
    'audit.export': (_viewer, query = {}) => audit.export(query),
    async 'audit.stats'(viewer, query = {}) {
      await core.filled();
      const { by = 'day', since, until } = query;
      const sums = await audit.sums({ by: groupsFor(by, viewer), since, until });
      const offered = offeredTo(viewer);
      const menu = { tools: offered.length, everyTool: await definitionTokens(offered) };
      return addUp(query, sums, viewer, menu);
    },
    'internal.tokens': async (viewer) => ({
      recorded: audit.tokenCounts(),
      everyTool: await definitionTokens(offeredTo(viewer)),
    }),
  });
}
