import type { Field } from './field.js';
import { problemPlace, type Draft } from './value.js';

/** An argument that the schema does not name. */
export interface UnknownName {
  /** That of JSON Pointer. */
  readonly path: string;
  /** The schema allows no others: toolscout would not send the call. */
  readonly isRefused: boolean;
  /** The name that was probably meant. */
  readonly nearest?: string;
}

/** More are not looked for: one remark is enough to look again. */
const MAX_FOUND = 10;
const MAX_NAME = 60;
/** Names that differ by more are not the same one misspelled. */
const MAX_EDITS = 2;

/** How many letters must be put in, taken out or replaced. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}

function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const near = known
    .filter((each) => each.length <= MAX_NAME && Math.abs(each.length - name.length) <= MAX_EDITS)
    .map((each) => [each, editsBetween(wanted, each.toLowerCase())] as const)
    .filter(([each, edits]) => edits <= Math.min(MAX_EDITS, each.length - 1))
    .toSorted(([, a], [, b]) => a - b);
  return near[0]?.[0];
}

/** The arguments that the schema does not name, at every level that the form knows. */
export function unknownNames(field: Field, value: Draft, path = ''): UnknownName[] {
  if (Array.isArray(value)) {
    if (field.kind !== 'list') return [];
    return (value as Draft[])
      .flatMap((item, at) => unknownNames(field.item, item, `${path}/${at}`))
      .slice(0, MAX_FOUND);
  }
  if (field.kind !== 'object' || typeof value !== 'object' || value === null) return [];
  const names = field.fields.map(({ name }) => name);
  return Object.entries(value as Record<string, Draft>)
    .filter(([, inner]) => inner !== undefined)
    .flatMap(([name, inner]): UnknownName[] => {
      const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const known = field.fields.find((each) => each.name === name);
      if (known) return unknownNames(known.field, inner, at);
      if (field.others === 'expected') return [];
      const nearest = name.length > MAX_NAME ? undefined : nearestName(name, names);
      return [{ path: at, isRefused: field.others === 'refused', ...(nearest !== undefined && { nearest }) }];
    })
    .slice(0, MAX_FOUND);
}

/** One of them in words. */
export function unknownText({ path, isRefused, nearest }: UnknownName): string {
  const place = problemPlace(path).slice(0, 2 * MAX_NAME);
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return isRefused
    ? `${place} is not in the schema of this tool, which allows no other arguments.${hint}`
    : `${place} is not in the schema of this tool. It is sent as it is.${hint}`;
}
