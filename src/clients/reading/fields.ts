import { isObject, type JsonObject } from '../../kernel/json.js';

/** The first of these fields that says something. Only own fields are looked at. */
export function field(raw: JsonObject, ...names: readonly string[]): unknown {
  for (const name of names) {
    const value = Object.hasOwn(raw, name) ? raw[name] : undefined;
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** A text field; what is empty or no text counts as absent. */
export function textField(raw: JsonObject, ...names: readonly string[]): string | undefined {
  const value = field(raw, ...names);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The texts of a list; what is no text is left out. */
export function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string' && item !== '') : [];
}

/** An object field, or nothing. */
export function objectField(raw: JsonObject, ...names: readonly string[]): JsonObject | undefined {
  const value = field(raw, ...names);
  return isObject(value) ? value : undefined;
}
