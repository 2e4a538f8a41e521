import type { Json, JsonObject } from '../api/types.js';
import type { Field } from './field.js';

/** What a form holds while it is filled in; `undefined` is an input that was left alone. */
export type Draft = Json | undefined | Draft[] | { [name: string]: Draft };

/** Something that stops a form from being sent; the path is that of JSON Pointer. */
export interface FormProblem {
  readonly path: string;
  readonly message: string;
}

function isRecord(value: unknown): value is Record<string, Draft> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a form starts with: defaults, and nothing where there are none. */
export function initialValue(field: Field): Draft {
  if (field.initial !== undefined) return structuredClone(field.initial);
  if (field.kind === 'object' && field.required) {
    return Object.fromEntries(field.fields.map(({ name, field: inner }) => [name, initialValue(inner)]));
  }
  if (field.kind === 'choice' && field.required && field.options.length === 1) return field.options[0]!.value;
  if (field.kind === 'list' && field.required)
    return Array.from({ length: Math.min(field.minItems ?? 0, 20) }, () => initialValue(field.item));
  if (field.kind === 'union' && field.required) return initialValue(field.variants[0]!);
  return undefined;
}

/** What an entry that is added to a list starts with. */
export function newEntry({ item }: Field & { readonly kind: 'list' }): Draft {
  return initialValue({ ...item, required: true });
}

/** An entry of a list as it was entered; a text that is empty was left alone. */
export function entryOf({ item }: Field & { readonly kind: 'list' }, entered: Draft): Draft {
  return entered === '' && item.kind === 'text' ? undefined : entered;
}

/** Whether a value could have been entered into this field; tells the variant of a union that a value belongs to. */
export function fits(field: Field, value: Draft): boolean {
  switch (field.kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'choice':
      return field.options.some((option) => JSON.stringify(option.value) === JSON.stringify(value));
    case 'object':
      return (
        isRecord(value) &&
        field.fields.every(({ name, field: inner }) =>
          value[name] === undefined
            ? !(inner.kind === 'choice' && inner.required)
            : inner.kind !== 'choice' || fits(inner, value[name]),
        )
      );
    case 'list':
      return Array.isArray(value);
    case 'union':
      return field.variants.some((variant) => fits(variant, value));
    case 'json':
      return true;
  }
}

/** A value with one place of it replaced; the rest is shared. */
export function withValueAt(value: Draft, path: readonly (string | number)[], next: Draft): Draft {
  const [first, ...rest] = path;
  if (first === undefined) return next;
  if (typeof first === 'number') {
    const list = Array.isArray(value) ? [...(value as Draft[])] : [];
    list[first] = withValueAt(list[first], rest, next);
    return list;
  }
  const record = isRecord(value) ? value : {};
  return { ...record, [first]: withValueAt(record[first], rest, next) };
}

/** What is sent: inputs that were left alone are left out. */
export function toArguments(value: Draft): Json | undefined {
  if (Array.isArray(value)) return (value as Draft[]).map((item) => toArguments(item) ?? null);
  if (!isRecord(value)) return value as Json | undefined;
  const result: JsonObject = {};
  for (const [name, inner] of Object.entries(value)) {
    const sent = toArguments(inner);
    if (sent !== undefined)
      Object.defineProperty(result, name, { value: sent, enumerable: true, configurable: true, writable: true });
  }
  return result;
}

function pointer(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

const FORMATS: Readonly<Record<string, readonly [RegExp, string]>> = {
  email: [/^[^\s@]+@[^\s@]+$/, 'an e-mail address'],
  uri: [/^[a-z][a-z0-9+.-]*:\S+$/i, 'a URI, such as https://example.com'],
  date: [/^\d{4}-\d\d-\d\d$/, 'a date, such as 2026-01-31'],
  'date-time': [/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/, 'a date and time, such as 2026-01-31T09:00:00Z'],
  uuid: [/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID'],
};

/** The pattern of a schema, when the browser can read it; the server decides about the others. */
function patternOf(source: string): RegExp | undefined {
  // Patterns of a server run here on texts of the person who types: only short ones, so that none can stop the page.
  if (source.length > 200 || /[+*}]\)?[+*{]/.test(source)) return undefined;
  try {
    return new RegExp(source, 'u');
  } catch {
    return undefined;
  }
}

function textProblem(field: Field & { kind: 'text' }, value: string): string | undefined {
  const length = [...value].length;
  if (field.minLength !== undefined && length < field.minLength)
    return `must have at least ${field.minLength} characters`;
  if (field.maxLength !== undefined && length > field.maxLength)
    return `must have at most ${field.maxLength} characters, not ${length}`;
  const format = field.format === undefined ? undefined : FORMATS[field.format];
  if (format && !format[0].test(value)) return `must be ${format[1]}`;
  if (field.pattern !== undefined && patternOf(field.pattern)?.test(value.slice(0, 2000)) === false)
    return `must match the pattern ${field.pattern}`;
  return undefined;
}

function numberProblem(field: Field & { kind: 'number' }, value: number): string | undefined {
  if (field.integer && !Number.isInteger(value)) return 'must be a whole number';
  if (field.minimum !== undefined && value < field.minimum) return `must be at least ${field.minimum}`;
  if (field.maximum !== undefined && value > field.maximum) return `must be at most ${field.maximum}`;
  if (field.above !== undefined && value <= field.above) return `must be more than ${field.above}`;
  if (field.below !== undefined && value >= field.below) return `must be less than ${field.below}`;
  if (
    field.multipleOf !== undefined &&
    Math.abs(value / field.multipleOf - Math.round(value / field.multipleOf)) > 1e-9
  )
    return `must be a multiple of ${field.multipleOf}`;
  return undefined;
}

/** Choices that are named; of more the first. */
const MAX_CHOICES = 12;

function mustBeOneOf(labels: readonly string[]): string {
  const named = labels.slice(0, MAX_CHOICES).map((label) => label.slice(0, 60));
  const rest = labels.length - named.length;
  return `must be one of ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Where a problem is, as a person writes it: `address.city`. */
export function problemPlace(path: string): string {
  const names = path.split('/').slice(1);
  return names.length === 0
    ? 'The arguments'
    : names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

/** Names that a value has and the schema does not. */
function strangersIn(field: Field & { kind: 'object' }, value: Record<string, Draft>): string[] {
  const known = new Set(field.fields.map(({ name }) => name));
  return Object.keys(value).filter((name) => value[name] !== undefined && !known.has(name));
}

/** Everything that stops a value from being sent. */
export function checkValue(field: Field, value: Draft, path = ''): FormProblem[] {
  const problem = (message: string | undefined): FormProblem[] => (message === undefined ? [] : [{ path, message }]);
  if (value === undefined || (value === '' && field.kind !== 'text' && field.kind !== 'choice'))
    return problem(field.required ? 'is required' : undefined);
  if (value === null)
    return problem(field.nullable || field.kind === 'json' || fits(field, null) ? undefined : 'must not be null');
  switch (field.kind) {
    case 'text':
      return problem(typeof value === 'string' ? textProblem(field, value) : 'must be a text');
    case 'number':
      return problem(typeof value === 'number' ? numberProblem(field, value) : 'must be a number');
    case 'boolean':
      return problem(typeof value === 'boolean' ? undefined : 'must be true or false');
    case 'choice':
      return problem(fits(field, value) ? undefined : mustBeOneOf(field.options.map(({ label }) => label)));
    case 'object':
      if (!isRecord(value)) return problem('must be an object');
      return [
        ...field.fields.flatMap(({ name, field: inner }) => checkValue(inner, value[name], pointer(path, name))),
        ...(field.others === 'refused' ? strangersIn(field, value) : []).map((name) => ({
          path: pointer(path, name),
          message: 'is not in the schema of this tool',
        })),
      ];
    case 'list': {
      if (!Array.isArray(value)) return problem('must be a list');
      const items = value as Draft[];
      if (field.minItems !== undefined && items.length < field.minItems)
        return problem(`must have at least ${field.minItems} items`);
      if (field.maxItems !== undefined && items.length > field.maxItems)
        return problem(`must have at most ${field.maxItems} items`);
      if (field.unique && new Set(items.map((item) => JSON.stringify(item))).size < items.length)
        return problem('must not have the same item twice');
      return items.flatMap((item, index) => checkValue(field.item, item, pointer(path, index)));
    }
    case 'union': {
      const variants = field.variants.filter((variant) => fits(variant, value));
      const found = (variants.length > 0 ? variants : field.variants).map((variant) =>
        checkValue(variant, value, path),
      );
      return found.find((problems) => problems.length === 0) ?? found[0]!;
    }
    case 'json':
      return [];
  }
}
