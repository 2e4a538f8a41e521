import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type AuditPush, type AuditSink, startAuditPush } from '../audit/index.js';
import type { Gateway } from '../gateway/index.js';
import type { Clock } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import type { AuditConfig, AuditSinkConfig } from '../model/audit-export.js';
import type { Store } from '../model/store.js';

/** What pushing needs of the process. */
export interface AuditPushDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly hide: (text: string) => string;
}

/** A sink whose parts are loaded when the first record is sent: few have one. */
function makeSink(config: AuditSinkConfig, clock: Clock): AuditSink {
  let sink: Promise<AuditSink> | undefined;
  const open = async (): Promise<AuditSink> => {
    const { url, format } = config;
    switch (config.type) {
      case 'syslog': {
        const { createSyslog } = await import('../audit/sinks/syslog.js');
        return createSyslog({ url, format, hostname: hostname(), clock });
      }
      case 'webhook': {
        const { createWebhook } = await import('../audit/sinks/webhook.js');
        return createWebhook({ url, format, secret: config.secret, fetch, clock });
      }
    }
  };
  return { send: async (records, delivery) => (await (sink ??= open())).send(records, delivery) };
}

/** Pushes the audit log to what `audit.export` names, as long as the process lives (SEC-12). Where nothing is named nothing runs. */
export function pushAudit(gateway: Gateway, { store, clock, log, hide }: AuditPushDeps): AuditPush {
  const config = (): AuditConfig => gateway.internal.loaded().config.audit;
  let push: AuditPush | undefined;
  let known: AuditConfig | undefined;
  let sinks = new Map<string, AuditSink>();
  const start = (): void => {
    if (push || Object.keys(config().export).length === 0) return;
    push = startAuditPush({
      store,
      clock,
      log,
      hide,
      holder: randomUUID(),
      sinks() {
        const now = config();
        if (now !== known) {
          sinks = new Map(Object.entries(now.export).map(([name, each]) => [name, makeSink(each, clock)]));
        }
        known = now;
        return sinks;
      },
    });
  };
  start();
  const unhear = gateway.onEvent(({ type }) => {
    if (type === 'reloaded') start();
  });
  return {
    async close() {
      unhear();
      await push?.close();
    },
  };
}
