import { viewServer } from '../../catalog/views.js';
import { messageOf, toToolscoutError } from '../../kernel/errors.js';
import { ownMs } from '../../model/audit-record.js';
import type { PendingCall } from '../../model/pending-call.js';
import type { Server } from '../../model/server.js';
import type { Viewer } from '../../model/viewer.js';
import type { Latency, ServerDetails } from '../contract/studio.js';
import type { SignInStatus } from '../contract/sign-in.js';
import { createCallWatch } from '../call-watch.js';
import type { Core } from '../core.js';
import { attentionFor } from '../reports/attention.js';
import { countServers, countTools, firstHour, hoursOf } from '../reports/overview.js';
import type { StoreStatus } from '../reports/store-status.js';
import { heldTools } from '../reports/held-tools.js';
import { createDefinitionTokens, groupsFor, isSumSeen } from '../reports/stats.js';
import { explainFor } from '../reports/why.js';
import { callerOf, isSeen, requireVisible } from '../viewer.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { listServers } from './servers/server-verbs.js';

/** Calls whose latency is shown. */
const MAX_CALLS = 120;

/** What the page shows of other facets. */
export interface StudioSources {
  readonly signInStatus: (id: string) => Promise<SignInStatus>;
  /** Calls that wait for a confirmation, as far as the viewer sees their tools. */
  readonly waitingCalls: (viewer: Viewer) => Promise<readonly PendingCall[]>;
  readonly storeStatus: () => Promise<StoreStatus>;
}

/** The verbs of the facet `studio`: what the page shows. */
export function studioVerbs(
  core: Core,
  { signInStatus, waitingCalls, storeStatus }: StudioSources,
): VerbTable<'studio.overview' | 'studio.server' | 'studio.heldTools' | 'studio.followCalls'> {
  const { audit, clock, log, pool } = core.deps;
  const definitionTokens = createDefinitionTokens();
  const calls = createCallWatch(core.deps);

  /** What the store answers, or nothing while it does not: the page goes on and says so (STORE-4). */
  const readable = <Row>(rows: Promise<readonly Row[]>): Promise<readonly Row[]> =>
    rows.catch((thrown: unknown) => {
      log.debug('studio.unread', { reason: core.hide(messageOf(thrown)) });
      return [];
    });

  /** Health checks of this process and calls of all, in the order of time. */
  const latencyOf = async (id: string): Promise<Latency[]> => {
    const checks = pool.pings(id).map((ping): Latency => ({ ...ping, by: 'check' }));
    const calls = await readable(audit.query({ server: id, kind: 'execution', limit: MAX_CALLS }));
    const answered = calls.flatMap(({ time, outcome, waitedMs = 0, ...record }): Latency[] => {
      const ms = ownMs(record);
      if (ms === undefined || outcome === 'refused' || outcome === 'waiting') return [];
      return [{ at: time, ms: Math.max(0, ms - waitedMs), ok: outcome === 'success', by: 'call' }];
    });
    return [...checks, ...answered].toSorted((a, b) => a.at - b.at);
  };

  const lastErrorOf = ({ id }: Server): ServerDetails['lastError'] => {
    const failure = core.learner.lastFailure(id);
    if (failure) {
      const { code, message, remedy } = toToolscoutError(failure.error);
      return { at: failure.at, code, message: core.hide(message), remedy };
    }
    const { lastError } = pool.health(id);
    if (lastError === undefined) return undefined;
    return { code: 'SERVER_CONNECTION_ERROR', message: core.hide(lastError), remedy: { kind: 'diagnose' } };
  };

  return defineVerbs({
    async 'studio.overview'(viewer) {
      await core.filled();
      const now = clock.now();
      const views = listServers(core, viewer);
      const tools = core.catalog.index.tools().filter((tool) => isSeen(viewer, tool));
      const sums = await readable(audit.sums({ by: groupsFor('hour', viewer), since: firstHour(now) }));
      return {
        empty: views.length === 0,
        servers: countServers(views),
        tools: countTools(tools),
        everyTool: await definitionTokens(tools.filter(({ status }) => status === 'enabled')),
        hours: hoursOf(
          sums.filter((sum) => isSumSeen(sum, viewer)),
          now,
        ),
        attention: attentionFor(core, viewer, views, {
          waiting: await readable(waitingCalls(viewer)),
          store: await storeStatus(),
        }),
      };
    },

    async 'studio.heldTools'(viewer, { q, server } = {}) {
      await core.filled();
      const { catalog, learner, hide, isStale } = core;
      const tools = catalog.index.tools(server).filter((tool) => isSeen(viewer, tool));
      const sources = { catalog, learner, pool, hide, isStale, now: clock.now(), isHidden: false };
      return heldTools(tools, (tool) => explainFor(viewer, tool.server, tool.name, sources), q);
    },

    'studio.followCalls': (viewer, listener) => calls.follow(viewer, listener),

    async 'studio.server'(viewer, id) {
      await core.filled();
      requireVisible(viewer, id, core.catalog);
      const server = core.catalog.server(id);
      const { catalog, learner, hide, isStale } = core;
      const facts = catalog.isPresentable(id) ? catalog.items(id)?.facts : undefined;
      const { transport } = server;
      const lastError = lastErrorOf(server);
      return {
        view: viewServer(server, { catalog, learner, pool, hide, isStale }),
        ...(transport.type === 'stdio' && transport.cwd !== undefined && { cwd: hide(transport.cwd) }),
        ...(facts?.instructions !== undefined && { instructions: facts.instructions }),
        ...(facts?.info && { info: facts.info }),
        latency: await latencyOf(id),
        ...(lastError && { lastError }),
        stderr: pool.stderr(id),
        ...(!callerOf(viewer).isLimited && { signIn: await signInStatus(id) }),
        tools: countTools(catalog.index.tools(id)),
      };
    },
  });
}
