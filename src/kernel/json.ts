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
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue;
    entries += `${entries === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(value[key])}`;
  }
  return `{${entries}}`;
}

/** Whether a value nests deeper than `limit` levels; walks without recursion, so no input can overflow the stack. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  const values: unknown[] = [value];
  const depths = [1];
  while (values.length > 0) {
    const next = values.pop();
    const depth = depths.pop()!;
    if (typeof next !== 'object' || next === null) continue;
    if (depth > limit) return true;
    const object = next as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      const child = object[key];
      if (typeof child !== 'object' || child === null) continue;
      values.push(child);
      depths.push(depth + 1);
    }
  }
  return false;
}
