import type { Problem } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';

/** Names what is wrong with a config and stops nothing, such as fields that are not used; what was named before is not named again. */
export function logWarnings(log: Log, warnings: readonly Problem[], named: readonly Problem[] = []): void {
  for (const { path, message } of warnings) {
    if (named.some((other) => other.path === path && other.message === message)) continue;
    log.warn('config.warning', { path, message });
  }
}
