import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';

/** The schema a reference means, or `undefined` when it does not stand in the same document. */
export type RefResolver = (reference: string) => JsonValue | undefined;

/** What a walk over the whole document finds. */
interface Names {
  readonly anchors: ReadonlyMap<string, JsonObject>;
  /** A part has an address of its own; then `#` may mean that part, and nothing local is certain. */
  readonly nested: boolean;
}

/** Every object of a document, whether it is a schema or not; without recursion. */
function* objectsIn(root: JsonObject): Generator<JsonObject> {
  const stack: JsonValue[] = [root];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (isObject(next)) yield next;
    for (const child of Object.values(next as object) as JsonValue[]) {
      if (typeof child === 'object' && child !== null) stack.push(child);
    }
  }
}

function collectNames(root: JsonObject): Names {
  const anchors = new Map<string, JsonObject>();
  let nested = false;
  for (const object of objectsIn(root)) {
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const name = object[keyword];
      if (typeof name === 'string' && !anchors.has(name)) anchors.set(name, object);
    }
    const id = object['$id'] ?? object['id'];
    if (typeof id === 'string' && id.startsWith('#') && !anchors.has(id.slice(1))) anchors.set(id.slice(1), object);
    else if (typeof object['$id'] === 'string' && object !== root) nested = true;
  }
  return { anchors, nested };
}

/** The reference a schema holds; the dynamic ones mean the same here, where there is one document. */
export function referenceOf(schema: JsonObject): string | undefined {
  const reference = schema['$ref'] ?? schema['$dynamicRef'] ?? schema['$recursiveRef'];
  return typeof reference === 'string' ? reference : undefined;
}

/** Every schema of a document that is referred to. */
export function collectTargets(root: JsonObject, resolve: RefResolver): ReadonlySet<JsonValue> {
  const targets = new Set<JsonValue>();
  for (const object of objectsIn(root)) {
    const reference = referenceOf(object);
    const target = reference === undefined ? undefined : resolve(reference);
    if (isObject(target)) targets.add(target);
  }
  return targets;
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // A stray percent sign: such a reference means nothing.
    return undefined;
  }
}

function follow(root: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

/** Resolves references within one document; whatever lies elsewhere is never fetched (S19). */
export function createRefResolver(root: JsonObject): RefResolver {
  let names: Names | undefined;
  return (reference) => {
    const id = root['$id'];
    const own = typeof id === 'string' ? id.replace(/#$/, '') : '';
    const local = own !== '' && reference.startsWith(own) ? reference.slice(own.length) || '#' : reference;
    if (!local.startsWith('#')) return undefined;
    names ??= collectNames(root);
    const fragment = decode(local.slice(1));
    if (fragment === undefined || names.nested) return undefined;
    if (fragment === '') return root;
    const target = fragment.startsWith('/') ? follow(root, fragment) : names.anchors.get(fragment);
    return isObject(target) || typeof target === 'boolean' ? target : undefined;
  };
}
