import { isObject, type JsonObject } from '../../kernel/json.js';

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

/**
 * Reads the fields of one entry and remembers which: what is left says nothing to us, and is named (CFG-5). Only own
 * fields are looked at; one that is `null` says nothing.
 */
export class EntryReader {
  private readonly used = new Set<string>();

  constructor(private readonly raw: JsonObject) {}

  /** The first of these fields that says something. */
  field(...names: readonly string[]): unknown {
    return this.find(names, () => true);
  }

  /** A text field; what is empty or no text counts as absent. */
  text(...names: readonly string[]): string | undefined {
    return this.find(names, (value) => typeof value === 'string' && value.trim() !== '') as string | undefined;
  }

  /** The texts of a list; items that are not strings are left out and named. */
  list(notes: string[], ...names: readonly string[]): string[] {
    const value = this.find(names, Array.isArray) as unknown[] | undefined;
    const texts = (value ?? []).filter((item): item is string => typeof item === 'string' && item !== '');
    if (texts.length < (value?.length ?? 0))
      notes.push(`${this.nameOf(names)} holds items that are not strings; they are left out`);
    return texts;
  }

  /** An object field, or nothing. */
  object(...names: readonly string[]): JsonObject | undefined {
    return this.find(names, isObject) as JsonObject | undefined;
  }

  /** Marks fields as read elsewhere, or as not worth a warning. */
  mark(...names: readonly string[]): void {
    for (const name of names) this.used.add(name);
  }

  /** The fields with a value that no importer has read; an empty list or object has no value. */
  unused(): string[] {
    return Object.keys(this.raw).filter((name) => !this.used.has(name) && this.says(name) && !isEmpty(this.raw[name]));
  }

  private says(name: string): boolean {
    const value = Object.hasOwn(this.raw, name) ? this.raw[name] : undefined;
    return value !== undefined && value !== null;
  }

  private nameOf(names: readonly string[]): string {
    return names.find((name) => this.says(name)) ?? names[0]!;
  }

  private find(names: readonly string[], fits: (value: unknown) => boolean): unknown {
    const name = names.find((each) => this.says(each) && fits(this.raw[each]));
    if (name === undefined) return undefined;
    this.used.add(name);
    return this.raw[name];
  }
}
