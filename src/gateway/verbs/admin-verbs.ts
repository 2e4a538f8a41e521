import { messageOf, ToolscoutError, toToolscoutError } from '../../kernel/errors.js';
import type { Server } from '../../model/server.js';
import type { Core } from '../core.js';
import { examine } from '../reports/doctor.js';
import { evaluate } from '../reports/evaluation.js';
import { rebuild, type ReloadReport } from '../reload.js';
import { createStoreWatch } from '../reports/store-status.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { callerOf } from '../viewer.js';

/** The verbs of whoever runs toolscout: taking over a changed config, the cache, the audit log, its health. */
export function administrationVerbs(
  core: Core,
): VerbTable<
  | 'reload'
  | 'clearCache'
  | 'forgetUsage'
  | 'cacheStats'
  | 'storeStatus'
  | 'acceptStore'
  | 'audit'
  | 'followAudit'
  | 'doctor'
  | 'evaluate'
  | 'config'
> {
  const { audit, cache, clock, log, mask, pool, store, knowledge } = core.deps;

  const storeStatus = createStoreWatch({ store, clock, hide: core.hide, doubt: core.approvals.doubt });

  /** A record that cannot be kept changes nothing of what became of the reload. */
  const recordReload = (entry: Omit<Parameters<typeof audit.recordNow>[0], 'kind'>): Promise<void> =>
    audit
      .recordNow({ kind: 'reload', ...entry })
      .catch((thrown: unknown) => log.error('audit.unrecorded', { error: core.hide(messageOf(thrown)) }));

  const reloadOnce = async (by: string, traceId: string | undefined): Promise<ReloadReport> => {
    if (core.closing) throw new ToolscoutError('SHUTTING_DOWN', 'The config is not read again: toolscout is stopping.');
    await core.filled();
    try {
      const { loaded, catalog } = core;
      const next = await rebuild({
        started: core.deps.loaded,
        loaded,
        catalog,
        load: core.deps.loadConfig,
        cache,
        knowledge,
        approvals: core.approvals,
      });
      mask.add(next.loaded.secrets);
      for (const id of next.forgotten) core.learner.forget(id);
      core.swap(next);
      core.trust.retainAllowed();
      await core.trust.admitAll();
      core.learnInBackground(next.due);
      const { auditRetentionDays } = next.loaded.config.limits;
      if (auditRetentionDays !== loaded.config.limits.auditRetentionDays) core.pruneAudit();
      const { needsRestart } = next.report;
      if (needsRestart.length > 0) log.warn('config.needs-restart', { fields: needsRestart.join(', ') });
      await recordReload({ principal: by, traceId, outcome: 'success', detail: { ...next.report } });
      core.events.emit({ type: 'reloaded', report: next.report });
      for (const { path: file, message: reason } of next.loaded.keptSources) {
        log.warn('config.source-kept', { file, reason });
        core.events.emit({ type: 'source-kept', file, reason: core.hide(reason) });
      }
      return next.report;
    } catch (thrown) {
      const reason = core.hide(messageOf(thrown));
      log.error('config.reload-failed', { reason });
      core.events.emit({ type: 'reload-failed', reason });
      const { code } = toToolscoutError(thrown);
      await recordReload({ principal: by, traceId, outcome: 'failure', code, detail: { reason } });
      throw thrown;
    }
  };
  let reloading: Promise<unknown> = Promise.resolve();

  return defineVerbs({
    reload({ principal }, { by = principal, traceId } = {}) {
      // One after the other, so that the last one asked for is the one that holds.
      const done = reloading.then(() => reloadOnce(by, traceId));
      reloading = done.then(
        () => undefined,
        () => undefined,
      );
      return done;
    },

    async clearCache({ principal }, server) {
      await core.filled();
      if (server !== undefined) core.catalog.server(server);
      // Answers of the registry are nobody's in particular: they go when everything goes.
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

    async forgetUsage({ principal }) {
      const forgotten = await core.experience.forget();
      await audit.recordNow({ kind: 'usage-forgotten', principal, outcome: 'success', detail: { forgotten } });
      return forgotten;
    },

    cacheStats: (_viewer) => cache.stats(),

    async storeStatus(_viewer) {
      // A store that cannot be read says so itself, below.
      await core.approvals
        .load()
        .catch((thrown: unknown) => log.debug('approvals.unread', { reason: messageOf(thrown) }));
      return storeStatus();
    },
    async acceptStore({ principal }, { by = principal, reason } = {}) {
      await core.filled();
      const accepted = await core.approvals.accept();
      if (!accepted) return undefined;
      const detail = { doubt: accepted.reason, ...(reason ? { reason: reason.slice(0, 500) } : {}) };
      await audit.recordNow({ kind: 'store-accept', principal: by, outcome: 'success', detail });
      core.trust.reconsider(core.catalog.servers.keys());
      await core.trust.admitAll();
      return accepted;
    },
    audit: (_viewer, filter = {}) => audit.query(filter),
    followAudit: (_viewer, filter, onRecord) => audit.follow(filter, onRecord),

    async doctor(_viewer, options) {
      await core.filled();
      const { loaded, catalog, learner, hide } = core;
      const waiting = (server: Server): number =>
        core.approvals.list([server]).filter(({ state }) => state === 'pending').length;
      return examine(
        { doubt: core.approvals.doubt(), loaded, catalog, learner, pool, store, hide, clock, waiting },
        options,
      );
    },

    async evaluate(_viewer, queries, { tools } = {}) {
      await core.filled();
      return evaluate(queries, tools, { index: core.catalog.index, loaded: core.loaded, store, clock, knowledge });
    },

    config(viewer) {
      const caller = callerOf(viewer);
      const { loaded } = core;
      if (!caller.isLimited) return loaded;
      const entries = Object.entries(loaded.config.servers).filter(([id]) => caller.sees(id));
      const config = { ...loaded.config, servers: Object.fromEntries(entries) };
      return { ...loaded, config, servers: loaded.servers.filter(({ id }) => caller.sees(id)), warnings: [] };
    },
  });
}
