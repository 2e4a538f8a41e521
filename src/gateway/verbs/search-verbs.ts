import { OWN_SERVER } from '../../answers/index.js';
import { forbidden, shownCheck } from '../../execute/index.js';
import { addressOf } from '../../kernel/ids.js';
import { leanDefinition } from '../../normalize/index.js';
import type { Tool } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';
import type { DetailsOptions } from '../contract/options.js';
import type { Core } from '../core.js';
import { explainFor } from '../reports/why.js';
import { isHidden, requireServer } from '../viewer.js';
import { createSearch } from './answer-search.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/**
 * The tool that a viewer asks for; its server is learned first if needed.
 *
 * @throws ToolscoutError when there is no such tool for this viewer, or when it is not offered.
 */
export async function findShown(
  core: Core,
  viewer: Viewer,
  server: string,
  name: string,
  options?: DetailsOptions,
): Promise<Tool> {
  if (server === OWN_SERVER) {
    const tool = core.own.tool(name);
    shownCheck({ tool });
    return tool;
  }
  requireServer(viewer, server, core.catalog);
  await core.known(server, options, { standIn: true });
  if (viewer.skill && !viewer.sees(server, name)) throw forbidden(viewer.skill.id, addressOf(server, name));
  const tool = core.catalog.tool(server, name, viewer.sees);
  // A skill never sees disabled tools. What waits for approval is shown only to those who decide about it (A11).
  const isWanted = options?.includeDisabled === true && !viewer.skill && tool.status === 'disabled' && !tool.hold;
  if (!isWanted) shownCheck({ tool });
  return tool;
}

/** The verbs at the top that look at what is known and change nothing. */
export function searchVerbs(core: Core): VerbTable<'search' | 'details' | 'why'> {
  const { pool, clock } = core.deps;
  return defineVerbs({
    search: createSearch(core),

    async details(viewer, server, name, options = {}) {
      const tool = await findShown(core, viewer, server, name, options);
      return { tool, lean: leanDefinition(tool.definition, { effects: core.loaded.config.splitReads }) };
    },

    async why(viewer, server, tool) {
      await core.filled();
      return explainFor(viewer, server, tool, {
        catalog: core.catalog,
        learner: core.learner,
        pool,
        hide: core.hide,
        isStale: core.isStale,
        now: clock.now(),
        isHidden: isHidden(viewer, server, core.catalog),
      });
    },
  });
}
