import type { LoadedConfig } from '../config/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { missingVariables, type Server } from '../model/server.js';

type Where = Pick<LoadedConfig, 'source' | 'config'>;

/** How to make a server usable that is off or badly configured, as a phrase. A server of `sources` is corrected in its own file. */
export function correctionOf({ id, source, enabled }: Server, loaded: Where): string {
  const isOwn = source === loaded.source;
  if (enabled) {
    return isOwn ? `correct servers.${id} in the config` : `correct "${id}" in ${source}, where it is configured`;
  }
  if (!loaded.config.enabled) return 'remove "enabled": false at the top of the config';
  return isOwn
    ? `remove "enabled": false from servers.${id} in the config`
    : `enable "${id}" in ${source}, where it is configured`;
}

/** The error of a server that is off or badly configured. */
export function unusableServer(server: Server, reason: string | undefined, loaded: Where): ToolscoutError {
  const message = `Server "${server.id}" cannot be used: ${reason}.`;
  const names = missingVariables(server.problem ?? '');
  if (server.enabled && names.length > 0) {
    const remedy = { kind: 'set-variables' as const, names };
    return new ToolscoutError('CONFIGURATION_ERROR', message, { remedy, delivered: false });
  }
  const phrase = correctionOf(server, loaded);
  return new ToolscoutError(server.enabled ? 'CONFIGURATION_ERROR' : 'SERVER_CONNECTION_ERROR', message, {
    remedy: { kind: 'configure', what: `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}.` },
    delivered: false,
  });
}
