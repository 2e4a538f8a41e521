import { viewServer, type ServerView } from '../../../catalog/views.js';
import { isUsable } from '../../../catalog/catalog.js';
import { isServerId, suggestServerId } from '../../../config/index.js';
import { hideIn, ToolscoutError, toToolscoutError } from '../../../kernel/errors.js';
import { printable } from '../../../kernel/text.js';
import type { Viewer } from '../../../model/viewer.js';
import type { Core } from '../../core.js';
import { isSeen, requireServer } from '../../viewer.js';
import { defineVerbs, type VerbTable } from '../define-verbs.js';

/** A server as a skill is shown it: of its tools those that serve, as far as they are known (CONN-2). */
function countServing(core: Core, viewer: Viewer, view: ServerView): ServerView {
  const tools = core.catalog.index.tools(view.id);
  const serving = tools.filter((tool) => tool.status === 'enabled' && isSeen(viewer, tool));
  return { ...view, tools: serving.length, disabledTools: 0 };
}

/** Every server that a viewer sees, by id. */
export function listServers(core: Core, viewer: Viewer): ServerView[] {
  const { catalog, learner, hide, isStale, deps } = core;
  const sources = { catalog, learner, pool: deps.pool, hide, isStale };
  return [...catalog.servers.values()]
    .filter(({ id }) => viewer.sees(id))
    .map((server) => viewServer(server, sources))
    .map((view) => (viewer.skill ? countServing(core, viewer, view) : view))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The verbs of the facet `servers` that list, add, connect and disconnect servers. */
export function serverVerbs(
  core: Core,
): VerbTable<'servers.list' | 'servers.facts' | 'servers.add' | 'servers.connect' | 'servers.disconnect'> {
  const { pool } = core.deps;
  return defineVerbs({
    async 'servers.list'(viewer) {
      await core.filled();
      return listServers(core, viewer);
    },

    async 'servers.facts'(viewer, id) {
      requireServer(viewer, id, core.catalog);
      const server = await core.known(id);
      const list = core.catalog.list(id);
      // A list that an earlier version kept says nothing about this.
      if (list && list.capabilities === undefined && isUsable(server)) await core.learner.learn(server);
      const facts = core.catalog.items(id)?.facts ?? {};
      if (!viewer.skill) return facts;
      // A skill declares tools; resources and prompts are not among them.
      const { info, instructions, era } = facts;
      return { info, instructions, era };
    },

    async 'servers.add'({ principal }, id, entry) {
      if (!isServerId(id)) {
        throw new ToolscoutError(
          'INVALID_REQUEST',
          `"${printable(id)}" cannot be an id; use "${suggestServerId(id)}".`,
        );
      }
      if (Object.hasOwn(core.loaded.config.servers, id) && core.loaded.path !== undefined) {
        throw new ToolscoutError('INVALID_REQUEST', `There is a server "${id}" already; choose another id.`);
      }
      const { writeServer } = core.deps;
      if (!writeServer) {
        throw new ToolscoutError('CONFIGURATION_ERROR', 'This toolscout has no config file to write to.', {
          remedy: { kind: 'configure', what: 'Start it with --config FILE; toolscout init writes one.' },
        });
      }
      const act = { kind: 'server-add', principal, server: id } as const;
      try {
        const path = await writeServer(id, entry, core.loaded.path);
        await core.deps.audit.recordNow({
          ...act,
          outcome: 'success',
          detail: { path, command: entry.command ?? 'url' },
        });
        return { path };
      } catch (thrown) {
        const error = toToolscoutError(thrown, 'CONFIGURATION_ERROR');
        await core.deps.audit.recordNow({ ...act, outcome: 'failure', code: error.code, message: error.message });
        throw error;
      }
    },

    async 'servers.connect'(_viewer, id) {
      await core.filled();
      const server = core.usable(id);
      const { pace, use } = pool.access(server);
      await pace();
      await use(() => Promise.resolve()).catch((thrown: unknown) => {
        throw hideIn(toToolscoutError(thrown, 'SERVER_CONNECTION_ERROR'), core.hide);
      });
    },

    async 'servers.disconnect'(_viewer, id) {
      await core.filled();
      pool.disconnect(core.catalog.server(id).id);
    },
  });
}
