import { isObject, type JsonObject } from '../../../kernel/json.js';
import { HANDSHAKE_REVISIONS } from '../../../protocol/revisions.js';
import type { HostSurface } from '../menu/host-surface.js';

/**
 * Whether a message is the handshake of a 2025-era host, whole and with nothing odd about it. A `_meta` may claim
 * another era, so what carries one is not plain.
 */
export function isPlainHandshake({ method, id, params }: JsonObject): boolean {
  if (method !== 'initialize' || id === undefined || !isObject(params)) return false;
  const { protocolVersion, capabilities, clientInfo, _meta } = params;
  return (
    typeof protocolVersion === 'string' &&
    isObject(capabilities) &&
    Object.values(capabilities).every(isObject) &&
    isObject(clientInfo) &&
    typeof clientInfo['name'] === 'string' &&
    typeof clientInfo['version'] === 'string' &&
    _meta === undefined
  );
}

/** The revision of a handshake: the one that was asked for, or the newest. */
export function revisionOf({ protocolVersion: asked }: JsonObject): string {
  return HANDSHAKE_REVISIONS.find((revision) => revision === asked) ?? HANDSHAKE_REVISIONS[0]!;
}

/** The answer to a handshake: its revision, and who is there. */
export function answerHandshake(params: JsonObject, { info, capabilities, instructions }: HostSurface): JsonObject {
  const protocolVersion = revisionOf(params);
  return { protocolVersion, capabilities, serverInfo: info, ...(instructions && { instructions }) };
}
