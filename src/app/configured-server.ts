import type { Gateway } from '../gateway/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { didYouMean, nearestNames } from '../kernel/text.js';

/**
 * Checks the server that a host wants to be served alone.
 *
 * @throws ToolscoutError `SERVER_NOT_FOUND` with the nearest names.
 */
export function requireConfigured(gateway: Gateway, server: string | undefined): void {
  const ids = gateway.internal.loaded().servers.map(({ id }) => id);
  if (server === undefined || ids.includes(server)) return;
  throw new ToolscoutError(
    'SERVER_NOT_FOUND',
    `There is no server "${server}".${didYouMean(nearestNames(server, ids))}`,
  );
}
