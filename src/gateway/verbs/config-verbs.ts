import { messageOf, ToolscoutError, toToolscoutError } from '../../kernel/errors.js';
import type { ReloadOptions } from '../contract/options.js';
import type { Core } from '../core.js';
import { rebuild, type ReloadReport } from '../reload.js';
import { showConfig } from '../reports/shown-config.js';
import { createStoreWatch } from '../reports/store-status.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { loadedFor } from './internal-verbs.js';
import { listServers } from './servers/server-verbs.js';

/** The verbs of the facet `config`, and the one that takes over a changed config. */
export function configVerbs(
  core: Core,
): VerbTable<'reload' | 'config.show' | 'config.storeStatus' | 'config.acceptStore'> {
  const { audit, cache, clock, log, mask, store, knowledge } = core.deps;

  const storeStatus = createStoreWatch({ store, clock, hide: core.hide, doubt: core.approvals.doubt });

  /** A record that cannot be kept changes nothing of what became of the reload. */
  const recordReload = (entry: Omit<Parameters<typeof audit.recordNow>[0], 'kind'>): Promise<void> =>
    audit
      .recordNow({ kind: 'reload', ...entry })
      .catch((thrown: unknown) => log.error('audit.unrecorded', { error: core.hide(messageOf(thrown)) }));

  const reloadOnce = async (by: string, { traceId, isGone }: ReloadOptions): Promise<ReloadReport> => {
    if (core.closing) throw new ToolscoutError('SHUTTING_DOWN', 'The config is not read again: toolscout is stopping.');
    await core.filled();
    try {
      const { loaded, catalog } = core;
      const next = await rebuild({
        started: core.deps.loaded,
        loaded,
        catalog,
        load: core.deps.loadConfig,
        isGone,
        cache,
        knowledge,
        approvals: core.approvals,
      });
      mask.add(next.loaded.secrets);
      for (const id of next.forgotten) core.learner.forget(id);
      core.swap(next);
      core.rejectedConfig = undefined;
      core.trust.retainAllowed();
      await core.trust.admitAll();
      core.learnInBackground(next.due);
      const { auditRetentionMs } = next.loaded.config.limits;
      if (auditRetentionMs !== loaded.config.limits.auditRetentionMs) core.pruneAudit();
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
      const { code, problems } = toToolscoutError(thrown);
      core.rejectedConfig =
        problems.length > 0
          ? problems.map(({ path, message }) => ({ path, message: core.hide(message) }))
          : [{ path: '', message: reason }];
      log.error('config.reload-failed', { reason });
      core.events.emit({ type: 'reload-failed', reason });
      await recordReload({ principal: by, traceId, outcome: 'failure', code, detail: { reason } });
      throw thrown;
    }
  };
  let reloading: Promise<unknown> = Promise.resolve();

  return defineVerbs({
    reload({ principal }, { by = principal, ...options } = {}) {
      // One after the other, so that the last one asked for is the one that holds.
      const done = reloading.then(() => reloadOnce(by, options));
      reloading = done.then(
        () => undefined,
        () => undefined,
      );
      return done;
    },

    async 'config.storeStatus'(_viewer) {
      // A store that cannot be read says so itself, below.
      await core.approvals
        .load()
        .catch((thrown: unknown) => log.debug('approvals.unread', { reason: messageOf(thrown) }));
      return storeStatus();
    },
    async 'config.acceptStore'({ principal }, { by = principal, reason } = {}) {
      await core.filled();
      const accepted = await core.approvals.accept();
      if (!accepted) return undefined;
      const detail = { doubt: accepted.reason, ...(reason ? { reason: reason.slice(0, 500) } : {}) };
      await audit.recordNow({ kind: 'store-accept', principal: by, outcome: 'success', detail });
      core.trust.reconsider(core.catalog.servers.keys());
      await core.trust.admitAll();
      return accepted;
    },
    async 'config.show'(viewer) {
      await core.filled();
      return showConfig(loadedFor(core, viewer), listServers(core, viewer));
    },
  });
}
