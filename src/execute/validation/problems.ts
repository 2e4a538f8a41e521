import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Problem } from '../../kernel/errors.js';
import { isObject } from '../../kernel/json.js';
import { nearestNames, oneLine } from '../../kernel/text.js';

/** How the arguments as a whole are called in a problem. */
export const WHOLE = '(arguments)';

const MAX_PROBLEMS = 20;
/** Errors looked at; a list of a hundred thousand wrong items says the same thing every time. */
const MAX_ERRORS = 500;
/** Allowed values that are read to name the nearest one. */
const MAX_VALUES = 1000;
const MAX_NAMED = 12;
const MAX_VALUE = 60;
const MAX_PATH = 300;

/** The problem at one path; alternatives of a union are reported as one. */
interface Complaint {
  readonly path: string;
  readonly types: Set<string>;
  readonly values: Set<string>;
  /** The value at the path, if its type or value is wrong; printed only when the problem is reported. */
  found: unknown;
  readonly messages: Set<string>;
  /** The schemas that were already asked for their names or values: many references may lead to one. */
  readonly asked: Set<object | undefined>;
  /** No form of a union fits. */
  union: string | undefined;
}

function childPath(parent: string, name: unknown): string {
  return `${parent}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** A value as JSON on one line. It is cut before it is printed: whatever its size, this takes the same time. */
function shown(value: unknown): string {
  let left = MAX_VALUE;
  const print = (part: unknown): string => {
    if (typeof part === 'string') {
      const text = part.length > left ? `${part.slice(0, Math.max(left, 0))}…` : part;
      left -= text.length;
      return JSON.stringify(text);
    }
    left -= 1;
    if (typeof part !== 'object' || part === null) return JSON.stringify(part) ?? 'undefined';
    const members: string[] = [];
    for (const name in part) {
      if (left <= 0) {
        members.push('…');
        break;
      }
      const member = (part as Record<string, unknown>)[name];
      members.push(Array.isArray(part) ? print(member) : `${print(name)}:${print(member)}`);
    }
    return Array.isArray(part) ? `[${members.join(',')}]` : `{${members.join(',')}}`;
  };
  return oneLine(print(value), MAX_VALUE);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function listed(items: readonly string[]): string {
  const named = items.slice(0, MAX_NAMED);
  const all = `${items.length}${items.length >= MAX_VALUES ? ' or more' : ''} in all`;
  return items.length > named.length ? `${named.join(', ')}, … (${all})` : named.join(', ');
}

function unknownName(name: string, parentSchema: object | undefined): string {
  const properties = (parentSchema as { properties?: unknown } | undefined)?.properties;
  const known = isObject(properties) ? Object.keys(properties) : [];
  const [nearest] = nearestNames(name, known, 1);
  if (nearest !== undefined) return `is not a known parameter; did you mean "${nearest}"?`;
  return known.length > 0 ? `is not a known parameter; known are ${listed(known)}` : 'is not a known parameter';
}

/** Where an error lies: what is missing or too much has a path of its own. */
function pathOf({ keyword, instancePath, params }: ErrorObject): string {
  switch (keyword) {
    case 'required':
    case 'dependencies':
    case 'dependentRequired':
      return childPath(instancePath, params['missingProperty']);
    case 'additionalProperties':
      return childPath(instancePath, params['additionalProperty']);
    case 'unevaluatedProperties':
      return childPath(instancePath, params['unevaluatedProperty']);
    case 'propertyNames':
      return childPath(instancePath, params['propertyName']);
    default:
      return instancePath;
  }
}

function messageOfError(error: ErrorObject): string {
  const { keyword, params, parentSchema } = error;
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'dependencies':
    case 'dependentRequired':
      return `is required together with "${String(params['property'])}"`;
    case 'additionalProperties':
      return unknownName(String(params['additionalProperty']), parentSchema);
    case 'unevaluatedProperties':
      return unknownName(String(params['unevaluatedProperty']), parentSchema);
    case 'propertyNames':
      return 'is not an allowed name';
    case 'uniqueItems':
      return 'must not contain the same item twice';
    case 'not':
      return 'has a form that is not allowed';
    case 'false schema':
      return 'is not allowed';
    default:
      return (error.message ?? `does not satisfy "${keyword}"`).replace('must NOT', 'must not');
  }
}

/** Keywords whose message is made of many names or values. */
const LONG_LISTS: ReadonlySet<string> = new Set(['enum', 'additionalProperties', 'unevaluatedProperties']);

function complain(complaint: Complaint, error: ErrorObject): void {
  const { keyword, params } = error;
  if (LONG_LISTS.has(keyword)) {
    if (complaint.asked.has(error.parentSchema)) return;
    complaint.asked.add(error.parentSchema);
  }
  if (keyword === 'type') {
    complaint.found = error.data;
    for (const type of [params['type']].flat()) complaint.types.add(String(type));
  } else if (keyword === 'enum' || keyword === 'const') {
    complaint.found = error.data;
    const allowed = keyword === 'enum' ? (params['allowedValues'] as unknown[]) : [params['allowedValue']];
    for (const value of allowed) {
      if (complaint.values.size >= MAX_VALUES) break;
      complaint.values.add(shown(value));
    }
  } else if (keyword === 'anyOf' || keyword === 'oneOf') {
    complaint.union = params['passingSchemas']
      ? 'matches more than one of the allowed forms'
      : 'must match one of the allowed forms';
  } else if (keyword !== 'if') complaint.messages.add(messageOfError(error));
}

function tell(complaint: Complaint, hasDeeper: boolean): string[] {
  const { types, values, found, messages, union } = complaint;
  const told = [...messages];
  if (values.size > 0) {
    const one = values.size === 1 ? '' : 'one of ';
    const [nearest] = nearestNames(shown(found), values, 1);
    const hint = nearest !== undefined && values.size > 1 ? `; did you mean ${nearest}?` : '';
    const orType = types.size > 0 ? `, or ${[...types].join(' or ')}` : '';
    told.unshift(`must be ${one}${listed([...values])}${orType}${hint}`);
  } else if (types.size > 0) told.unshift(`must be ${[...types].join(' or ')}, not ${kindOf(found)}`);
  // A union whose forms differ only in type or value was reported above.
  if (union !== undefined && (hasDeeper || told.length !== 1)) told.unshift(union);
  return told;
}

/**
 * The errors of the validator as instructions: one path, one sentence, no alternative reported twice. Only the first
 * ones are reported, and only those are worded.
 */
export function toProblems(allErrors: readonly ErrorObject[]): Problem[] {
  const errors = allErrors.slice(0, MAX_ERRORS);
  let isCut = allErrors.length > errors.length;
  const complaints = new Map<string, Complaint>();
  // A wrong value is also of the wrong type; when the values are known, they say it better.
  const withValues = new Set(
    errors.filter(({ keyword }) => keyword === 'enum').map(({ parentSchema }) => parentSchema),
  );
  for (const error of errors) {
    if (error.keyword === 'type' && withValues.has(error.parentSchema)) continue;
    // The error inside a name says what is wrong; it has the path of the whole object.
    if (error.propertyName !== undefined && error.keyword !== 'propertyNames') continue;
    const path = pathOf(error);
    let complaint = complaints.get(path);
    if (!complaint) {
      if (complaints.size >= MAX_PROBLEMS) {
        isCut = true;
        continue;
      }
      complaint = {
        path,
        types: new Set(),
        values: new Set(),
        found: undefined,
        messages: new Set(),
        asked: new Set(),
        union: undefined,
      };
      complaints.set(path, complaint);
    }
    complain(complaint, error);
  }

  const problems: Problem[] = [];
  for (const complaint of complaints.values()) {
    const hasDeeper =
      complaint.union !== undefined && [...complaints.keys()].some((path) => path.startsWith(`${complaint.path}/`));
    const path = complaint.path === '' ? WHOLE : oneLine(complaint.path, MAX_PATH);
    for (const message of tell(complaint, hasDeeper)) problems.push({ path, message });
  }
  if (!isCut && problems.length <= MAX_PROBLEMS) return problems;
  const more = { path: WHOLE, message: `have more problems; the first ${MAX_PROBLEMS} are listed` };
  return [...problems.slice(0, MAX_PROBLEMS), more];
}
