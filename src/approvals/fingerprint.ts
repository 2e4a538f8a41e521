import { hashJson, sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { ServerOrigin } from '../model/approval.js';
import type { Server, Transport } from '../model/server.js';
import { scriptsOf } from './script-files.js';

/** Where a server came from, as far as trust goes. */
export function originOf(server: Pick<Server, 'origin' | 'scope'>): ServerOrigin {
  return server.origin ?? (server.scope === 'project' ? 'project' : 'user');
}

/**
 * Names of variables that hold a credential. Their values may change without the server becoming another one. The last
 * word decides: `GIT_ASKPASS` names a program and does not count.
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
export function launchOf(server: Pick<Server, 'transport' | 'capabilities' | 'origin' | 'scope' | 'review'>): string {
  const parts = partsOf(server.transport);
  if (originOf(server) === 'user') return hashJson(parts);
  // A server of unverified origin is approved together with its variables, its claimed capabilities and its scripts
  // (A42, A51).
  const { transport, review, capabilities = [] } = server;
  const scripts = transport.type === 'stdio' ? scriptsOf(transport) : [];
  return hashJson({
    ...parts,
    ...(review?.written !== undefined && { written: review.written }),
    ...(capabilities.length > 0 ? { capabilities: [...capabilities].toSorted() } : {}),
    ...(scripts.length > 0 ? { scripts } : {}),
  });
}

/** A server's own description, for hosts and models. */
export interface Presentation {
  readonly instructions?: string;
  readonly title?: string;
  /** Everything else in its `serverInfo` and its capabilities that holds words. */
  readonly more?: JsonObject;
  /** The server could not be asked who it is, so there is nothing to compare. */
  readonly isUnknown?: boolean;
}

/** The presentation as one JSON value, so that it can be kept and compared. */
export function presentationOf({ instructions, title, more = {} }: Presentation): JsonObject {
  return { instructions: instructions ?? '', title: title ?? '', ...(Object.keys(more).length > 0 && { more }) };
}

/** The presentation as records without `isComplete` have pinned it. */
export function basicPresentationOf({ instructions, title }: Presentation): JsonObject {
  return presentationOf({ instructions, title });
}

/** A version says when a server was updated, which is no reason to hold it, as long as it is a version. */
const PLAIN_VERSION = /^v?\d[\w.+~-]{0,31}$/;

/** Capabilities of the protocol; as long as they hold only its switches, an update may add one. */
const KNOWN_CAPABILITIES = new Set(['tools', 'resources', 'prompts', 'logging', 'completions', 'tasks']);
const SWITCHES = new Set(['listChanged', 'subscribe', 'list', 'cancel', 'requests', 'tools', 'call']);

function isSwitches(value: JsonValue | undefined): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(([name, each]) => SWITCHES.has(name) && (typeof each === 'boolean' || isSwitches(each)))
  );
}

/** What of the capabilities is more than switches of the protocol. */
export function wordyCapabilities(capabilities: JsonObject = {}): JsonObject {
  return Object.fromEntries(
    Object.entries(capabilities).filter(([name, value]) => !KNOWN_CAPABILITIES.has(name) || !isSwitches(value)),
  );
}

/** A server's own description: instructions, title, and all texts of `serverInfo` and the capabilities. */
export function presentationFrom(facts: {
  readonly info?: JsonObject;
  readonly instructions?: string;
  readonly capabilities?: JsonObject;
}): Presentation {
  const { title, version, ...rest } = facts.info ?? {};
  const capabilities = wordyCapabilities(facts.capabilities);
  const more = {
    ...rest,
    ...(typeof version === 'string' && version !== '' && !PLAIN_VERSION.test(version) && { version }),
    ...(Object.keys(capabilities).length > 0 && { capabilities }),
  };
  return {
    ...(facts.instructions !== undefined && { instructions: facts.instructions }),
    ...(typeof title === 'string' && title !== '' && { title }),
    more,
  };
}
