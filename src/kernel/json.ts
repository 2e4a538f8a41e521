/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object; unknown fields are kept, so that nothing of a server's is lost. */
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** True for a plain JSON object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON text with sorted keys and no spaces: equal values give equal bytes. */
export function canonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  let entries = '';
  for (const key of Object.keys(value).toSorted()) {
    if (value[key] === undefined) continue;
    entries += `${entries === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(value[key])}`;
  }
  return `{${entries}}`;
}

/** Whether a value nests deeper than `limit` levels; walks without recursion, so no input can overflow the stack. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  const stack: Array<{ value: unknown; depth: number }> = [{ value, depth: 1 }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth > limit) return true;
    for (const child of Object.values(next.value)) {
      if (typeof child === 'object' && child !== null) stack.push({ value: child, depth: next.depth + 1 });
    }
  }
  return false;
}
