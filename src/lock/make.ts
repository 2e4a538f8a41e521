import { isCredentialVariable, isLoaderVariable } from '../kernel/loader-variables.js';
import { hashJson, sha256 } from '../kernel/hash.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import {
  LOCK_LISTS,
  type LockItem,
  type LockLaunch,
  type LockList,
  type LockPackage,
  type LockServer,
} from '../model/lock.js';
import type { Server } from '../model/server.js';
import { createNames, type Cleaner } from './clean.js';
import { lockHash } from './lock-text.js';

/** The field that names an entry of each list. */
const NAMED_BY: Readonly<Record<LockList, string>> = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  resourceTemplates: 'uriTemplate',
};

/** What a server shows of itself now. */
export interface ShownServer extends Readonly<Record<LockList, readonly JsonObject[]>> {
  readonly server: Server;
  readonly presentation: JsonObject;
  readonly protocolVersion?: string;
  readonly package?: LockPackage;
}

/** How a server is launched, as it may stand in a file that others read. */
export function lockLaunch({ shown, transport }: Pick<Server, 'shown' | 'transport'>, cleaner: Cleaner): LockLaunch {
  const env = transport.type === 'stdio' ? transport.env : {};
  // The value of such a variable decides which code runs; it may hold anything, so only its hash is kept.
  const decides = (name: string): boolean =>
    Object.hasOwn(env, name) && isLoaderVariable(name) && !isCredentialVariable(name);
  const given = shown.secrets.map((name) =>
    decides(name) ? `${name}=sha256:${sha256(cleaner.paths(env[name]!)).slice(0, 32)}` : name,
  );
  const cwd = transport.type === 'stdio' ? transport.cwd : undefined;
  return {
    type: shown.type,
    target: cleaner.text(shown.target),
    given: given.toSorted(),
    ...(cwd !== undefined && { cwd: cleaner.text(cwd) }),
  };
}

/** The hash under which a launch is compared. */
export function launchHash(launch: LockLaunch): string {
  return hashJson(launch as unknown as JsonValue);
}

/** Everything of a server that a lock holds. */
export function makeLockServer(shown: ShownServer, cleaner: Cleaner): LockServer {
  const lists = LOCK_LISTS.map((list) => [list, itemsOf(shown[list], NAMED_BY[list], cleaner)] as const);
  return {
    id: shown.server.id,
    launch: lockLaunch(shown.server, cleaner),
    ...(shown.package && { package: shown.package }),
    ...(shown.protocolVersion !== undefined && { protocolVersion: shown.protocolVersion }),
    presentation: cleaner.json(shown.presentation) as JsonObject,
    ...(Object.fromEntries(lists) as Record<LockList, LockItem[]>),
  };
}

/** Each name once: of two entries of one name only the first can be used by it. */
function itemsOf(definitions: readonly JsonObject[], field: string, cleaner: Cleaner): LockItem[] {
  const items = new Map<string, LockItem>();
  const seen = new Set<string>();
  const nameOf = createNames();
  for (const each of definitions) {
    const own = String(each[field]);
    if (seen.has(own)) continue;
    seen.add(own);
    const definition = cleaner.json(each);
    const name = nameOf(cleaner.text(own));
    items.set(name, { name, hash: lockHash(definition), definition });
  }
  return [...items.values()];
}
