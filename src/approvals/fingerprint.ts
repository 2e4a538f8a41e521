import { hashJson, sha256 } from '../kernel/hash.js';
import type { JsonObject } from '../kernel/json.js';
import type { ServerOrigin } from '../model/approval.js';
import type { Server, Transport } from '../model/server.js';

/** Where a server came from, as far as trust goes. */
export function originOf(server: Pick<Server, 'origin' | 'scope'>): ServerOrigin {
  return server.origin ?? (server.scope === 'project' ? 'project' : 'user');
}

/**
 * Names of variables that hold a credential. Their values may change without the server becoming
 * another one. The last word decides: `GIT_ASKPASS` names a program and is none of them.
 */
const CREDENTIAL = /(?:^|[_-])(?:token|key|apikey|secret|password|pat|credential|credentials)$/i;

function partsOf(transport: Transport): JsonObject {
  if (transport.type !== 'stdio') {
    return { type: transport.type, url: transport.url, headers: Object.keys(transport.headers).toSorted() };
  }
  // A variable can make a harmless program run other code (NODE_OPTIONS, LD_PRELOAD), so its value counts.
  const env = Object.entries(transport.env)
    .map(([name, value]) => [name, CREDENTIAL.test(name) ? '' : sha256(value)])
    .toSorted(([a], [b]) => (a! < b! ? -1 : 1));
  return {
    type: 'stdio',
    command: transport.command,
    args: [...transport.args],
    cwd: transport.cwd,
    env,
  };
}

/** SHA-256 of how exactly a server is started or reached: another argument is another launch (A2). */
export function launchOf(server: Pick<Server, 'transport'>): string {
  return hashJson(partsOf(server.transport));
}

/** What a server says of itself to hosts and models. */
export interface Presentation {
  readonly instructions?: string;
  readonly title?: string;
  /** The server could not be asked who it is, so there is nothing to compare. */
  readonly isUnknown?: boolean;
}

/** The presentation as one JSON value, so that it can be kept and compared. */
export function presentationOf({ instructions, title }: Presentation): JsonObject {
  return { instructions: instructions ?? '', title: title ?? '' };
}
