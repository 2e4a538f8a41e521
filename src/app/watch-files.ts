import { watchConfig, type ConfigWatch, type LoadedConfig } from '../config/index.js';
import type { Gateway } from '../gateway/index.js';
import type { Clock } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';

/** Files of clients change all the time, and none of them is waited for by a person. */
const SOURCE_POLL_MS = 5000;

/** More files than this are not watched; a reload reads them all the same. */
const MAX_WATCHED = 64;

/** Reloads when the config changes, or a file that its sources are read from (CFG-5, CFG-6). */
export function watchFiles(deps: {
  readonly gateway: Gateway;
  readonly read: () => Promise<LoadedConfig>;
  readonly clock: Clock;
  readonly log: Log;
}): ConfigWatch {
  const { gateway, read, clock, log } = deps;
  // The gateway has reported the reason; the old state goes on serving.
  const keep = (thrown: unknown): void => log.debug('config.kept', { reason: messageOf(thrown) });
  const reload = (): void => void gateway.reload().catch(keep);
  const reportMissing = (): void => void gateway.reload({ isGone: true }).catch(keep);
  /** Clients keep much else in these files: only a change of servers is worth a reload and its record. */
  const reloadIfChanged = async (): Promise<void> => {
    const next = await read();
    const now = gateway.internal.loaded();
    const kept = (config: LoadedConfig): string => config.keptSources.map(({ path }) => path).join('\n');
    // A file that cannot be read leaves the servers as they are, and is worth a warning.
    if (next.hash !== now.hash || kept(next) !== kept(now)) await gateway.reload();
  };

  let config: (ConfigWatch & { readonly path: string }) | undefined;
  /** Watches the file in force, whichever it is by now. Answers whether that is another than before. */
  const followConfig = (): boolean => {
    const { path } = gateway.internal.loaded();
    if (path === undefined || path === config?.path) return false;
    config?.close();
    config = { path, ...watchConfig(path, { clock, log, onChange: reload, onMissing: reportMissing }) };
    return true;
  };
  const sources = new Map<string, ConfigWatch>();
  const follow = (): void => {
    const wanted = new Set(gateway.internal.loaded().sourceFiles.slice(0, MAX_WATCHED));
    for (const [file, watch] of sources) {
      if (wanted.has(file)) continue;
      watch.close();
      sources.delete(file);
    }
    for (const file of wanted) {
      if (sources.has(file)) continue;
      const onChange = (): void => void reloadIfChanged().catch(keep);
      sources.set(file, watchConfig(file, { clock, log, pollMs: SOURCE_POLL_MS, onChange }));
    }
  };
  followConfig();
  follow();
  const forget = gateway.onEvent((event) => {
    if (event.type !== 'reloaded') return;
    // It may have been written once more between being read and being watched.
    if (followConfig()) void reloadIfChanged().catch(keep);
    follow();
  });
  return {
    close() {
      forget();
      config?.close();
      for (const watch of sources.values()) watch.close();
    },
  };
}
