import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { LaunchInput } from '../model/registry-server.js';
import type { RegistryServer } from '../model/registry-server.js';

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;
/** Nesting of a `server.json`; its own schema needs seven. */
const DEPTH = 16;

/** A text of a document, or nothing when it is anything else. */
export function textAt(object: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The objects of a list in a document; everything else in it is left out. */
export function objectsAt(object: JsonObject, key: string): JsonObject[] {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The named objects of a map in a document. */
export function namedObjectsAt(object: JsonObject, key: string): Array<[string, JsonObject]> {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (!isObject(value)) return [];
  return Object.entries(value).filter((pair): pair is [string, JsonObject] => isObject(pair[1]));
}

/** An input of a document as a question. */
export function readInput(object: JsonObject, key: string, where: LaunchInput['where'], repeated = false): LaunchInput {
  const format = textAt(object, 'format');
  const choices = Array.isArray(object['choices'])
    ? object['choices'].filter((choice): choice is string => typeof choice === 'string')
    : [];
  return {
    key,
    where,
    description: textAt(object, 'description'),
    required: object['isRequired'] === true,
    secret: object['isSecret'] === true,
    repeated,
    format: format === 'number' || format === 'boolean' || format === 'filepath' ? format : 'string',
    default: textAt(object, 'default'),
    placeholder: textAt(object, 'placeholder'),
    ...(choices.length > 0 ? { choices } : {}),
  };
}

/** One entry of a registry, or why it is left out. `older` entries are sound, but not the newest version. */
export type ReadEntry =
  | { readonly kind: 'server'; readonly server: RegistryServer }
  | { readonly kind: 'older' | 'deleted' }
  | { readonly kind: 'bad'; readonly reason: string };

/** Reads one `{server, _meta}` of a registry's answer. */
export function readEntry(value: JsonValue | undefined): ReadEntry {
  if (!isObject(value) || !isObject(value['server'])) return { kind: 'bad', reason: 'has no "server"' };
  const document = value['server'];
  if (isDeeperThan(document, DEPTH)) return { kind: 'bad', reason: 'is nested too deep' };
  const name = textAt(document, 'name');
  const version = textAt(document, 'version');
  if (name === undefined || name.length > 200 || !NAME.test(name)) return { kind: 'bad', reason: 'has no valid name' };
  if (version === undefined || version.length > 255) return { kind: 'bad', reason: `${name} has no proper version` };
  const meta = isObject(value['_meta']) ? value['_meta'][OFFICIAL] : undefined;
  // A private registry may leave the official part out; it was asked for the latest versions only.
  const official = isObject(meta) ? meta : undefined;
  const status = official && textAt(official, 'status');
  if (status === 'deleted') return { kind: 'deleted' };
  if (official && official['isLatest'] !== true) return { kind: 'older' };
  const repository = isObject(document['repository']) ? textAt(document['repository'], 'url') : undefined;
  return {
    kind: 'server',
    server: {
      name,
      title: textAt(document, 'title'),
      description: textAt(document, 'description') ?? '',
      version,
      status: status === 'deprecated' ? 'deprecated' : 'active',
      updatedAt: official && textAt(official, 'updatedAt'),
      repository,
      document,
    },
  };
}
