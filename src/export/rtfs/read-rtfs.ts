import type { JsonObject } from '../../kernel/json.js';
import type { Manifest } from '../../model/manifest.js';
import type { Parameter } from '../../model/tool.js';
import { complainAt, nameOf, parseRtfs, type Form, type ParsedText } from './parse-rtfs.js';
import { nameText } from './rtfs-text.js';
import { sortParameters } from '../parameters.js';
import { ANY, unite, type LeafKind, type MapEntry, type Scalar, type Shape } from '../shape.js';
import { FALLBACK, VALIDATION } from './write-rtfs.js';
import { schemaOf } from '../write-schema.js';

const TYPES: ReadonlyMap<string, LeafKind> = new Map([
  ['any', 'any'],
  ['nil', 'any'],
  ['string', 'string'],
  ['int', 'int'],
  ['integer', 'int'],
  ['float', 'float'],
  ['number', 'float'],
  ['bool', 'bool'],
  ['boolean', 'bool'],
]);

type Complain = (form: Form, message: string) => never;

function complainer(text: string): Complain {
  return (form, message) => {
    throw complainAt(text, form.at, message);
  };
}

function nameIn(form: Form | undefined, parent: Form, what: string, complain: Complain): string {
  if (form?.kind === 'keyword' || form?.kind === 'string') return form.text;
  return complain(form ?? parent, `expected ${what}, found ${nameOf(form)}`);
}

const isMarker = (form: Form | undefined): boolean => form?.kind === 'symbol' && form.text === '?';

/** Key and value forms, one after the other, as a map. */
function pairsOf(items: readonly Form[], parent: Form, complain: Complain): Map<string, Form> {
  const pairs = new Map<string, Form>();
  for (let at = 0; at < items.length; at += 2) {
    const key = items[at]!;
    if (key.kind !== 'keyword') complain(key, `expected a keyword, found ${nameOf(key)}`);
    const name = nameIn(key, parent, 'a keyword', complain);
    const value = items[at + 1];
    if (!value) return complain(key, `expected a value after :${name}`);
    if (pairs.has(name)) complain(key, `duplicate key :${name}`);
    pairs.set(name, value);
  }
  return pairs;
}

/** One entry of a map, in any of the forms an optional one may have: `{:optional true}`, `T?`, `T ?`. */
function readEntry(form: Form, complain: Complain): MapEntry {
  if (form.kind !== 'vector') return complain(form, `expected an entry such as [:name :string], found ${nameOf(form)}`);
  const key = nameIn(form.items[0], form, 'the name of an entry', complain);
  const rest = form.items.slice(1);
  let optional = false;
  if (rest[0]?.kind === 'map') {
    const flag = pairsOf(rest[0].items, rest[0], complain).get('optional');
    optional = flag?.kind === 'symbol' && flag.text === 'true';
    rest.shift();
  }
  if (rest.length === 2 && isMarker(rest[1])) {
    optional = true;
    rest.pop();
  }
  let type = rest[0];
  if (!type || rest.length > 1) return complain(rest[1] ?? form, `expected one type for the entry "${key}"`);
  if (type.kind === 'keyword' && type.text.endsWith('?')) {
    optional = true;
    type = { ...type, text: type.text.slice(0, -1) };
  }
  return { key, optional, type: readType(type, complain) };
}

function readMap(form: Form, items: readonly Form[], complain: Complain): Shape {
  const entries = items.map((item) => readEntry(item, complain));
  const keys = new Set<string>();
  for (const { key } of entries) {
    if (keys.has(key)) complain(form, `duplicate entry "${key}" in this map`);
    keys.add(key);
  }
  return { kind: 'map', entries };
}

/** An RTFS type as a shape. */
function readType(form: Form, complain: Complain): Shape {
  if (form.kind === 'keyword' || form.kind === 'symbol') {
    // Outside of an entry `T?` says that the value may be nil.
    if (form.text.endsWith('?')) return ANY;
    const kind = TYPES.get(form.text);
    return kind ? { kind } : complain(form, `there is no type ${nameOf(form)}`);
  }
  const [head, ...items] = form.kind === 'vector' ? form.items : [];
  switch (head?.kind === 'keyword' ? head.text : undefined) {
    case 'map':
      return readMap(form, items, complain);
    case 'vector':
      if (items.length !== 1) return complain(form, `expected one type in [:vector …], found ${items.length}`);
      return { kind: 'vector', items: readType(items[0]!, complain) };
    case 'union':
      if (items.length === 0) return complain(form, 'expected types in [:union …]');
      return unite(items.map((item) => readType(item, complain)));
    default:
      return complain(form, `expected a type such as :string or [:map …], found ${nameOf(form)}`);
  }
}

function readScalar(form: Form, complain: Complain): Scalar {
  if (form.kind === 'string') return form.text;
  if (form.kind === 'number') return form.value;
  if (form.kind === 'symbol' && form.text === 'nil') return null;
  if (form.kind === 'symbol' && (form.text === 'true' || form.text === 'false')) return form.text === 'true';
  return complain(form, `expected a value, found ${nameOf(form)}`);
}

/** The way to a type as one text, the same that is written for it. */
function pathText(path: readonly Form[], complain: Complain): string {
  const steps = path.map((step) =>
    step.kind === 'number' ? String(step.value) : nameText(nameIn(step, step, 'a key', complain)),
  );
  return steps.join(' ');
}

/** The shape with the values that are listed for its types; each type is looked at once. */
function withValues(shape: Shape, listed: ReadonlyMap<string, readonly Scalar[]>, path: string): Shape {
  const deeper = (inner: Shape, step: string): Shape =>
    withValues(inner, listed, path === '' ? step : `${path} ${step}`);
  switch (shape.kind) {
    case 'vector':
      return { ...shape, items: deeper(shape.items, ':items') };
    case 'union':
      return { ...shape, members: shape.members.map((member, at) => deeper(member, String(at))) };
    case 'map':
      return {
        ...shape,
        entries: shape.entries.map((entry) => ({ ...entry, type: deeper(entry.type, nameText(entry.key)) })),
      };
    default: {
      const values = listed.get(path);
      return values && values.length > 0 ? { kind: shape.kind, values } : shape;
    }
  }
}

/** Puts the values that stand in the comments of a file back where they belong. */
function applyValidations(text: string, schemas: Map<string, Shape>, comments: ParsedText['comments']): void {
  const listed = new Map([...schemas.keys()].map((name) => [name, new Map<string, readonly Scalar[]>()]));
  for (const comment of comments) {
    if (!comment.text.startsWith(VALIDATION)) continue;
    const complain: Complain = (_form, message) => {
      throw complainAt(text, comment.at, message);
    };
    const [name, path, values] = parseRtfs(comment.text.slice(VALIDATION.length)).forms;
    const known = name?.kind === 'keyword' ? listed.get(name.text) : undefined;
    if (!known || path?.kind !== 'vector' || values?.kind !== 'vector') {
      throw complainAt(text, comment.at, 'expected "; validation :input-schema [path] [values]"');
    }
    const read = values.items.map((value) => readScalar(value, complain));
    known.set(pathText(path.items, complain), read);
  }
  for (const [name, shape] of schemas) schemas.set(name, withValues(shape, listed.get(name)!, ''));
}

function parametersOf(shape: Shape): Parameter[] {
  const entries = shape.kind === 'map' ? shape.entries : [];
  const typeName = (type: Shape): string => {
    if (type.kind === 'vector') return `${typeName(type.items)}[]`;
    if (type.kind === 'union') return type.members.map((member) => typeName(member)).join('|');
    return String(schemaOf(type).type ?? 'any');
  };
  return sortParameters(
    entries.map(({ key, optional, type }) => ({
      name: key,
      type: typeName(type),
      required: !optional,
      description: '',
      ...('values' in type && type.values ? { values: type.values.map(String) } : {}),
    })),
  );
}

function stringsIn(form: Form | undefined, parent: Form, complain: Complain): string[] {
  if (!form) return [];
  if (form.kind !== 'vector') return complain(form, `expected a vector of strings, found ${nameOf(form)}`);
  return form.items.map((item) => nameIn(item, parent, 'a string', complain));
}

function readProvider(form: Form | undefined, parent: Form, complain: Complain): Manifest['provider'] {
  if (form?.kind !== 'map') return complain(form ?? parent, `expected a map as :provider, found ${nameOf(form)}`);
  const fields = pairsOf(form.items, form, complain);
  const type = nameIn(fields.get('type'), form, ':type', complain);
  if (type !== 'mcp') return complain(form, `expected :type :mcp, found "${type}"`);
  const toolName = nameIn(fields.get('tool-name'), form, ':tool-name', complain);
  const url = fields.get('server-url');
  if (url) return { type, serverUrl: nameIn(url, form, 'a URL', complain), toolName };
  const command = nameIn(fields.get('command'), form, ':server-url or :command', complain);
  return { type, command, args: stringsIn(fields.get('args'), form, complain), toolName };
}

/**
 * Reads the RTFS file of one capability, in either dialect; keys may stand in any order and unknown
 * ones are passed over. Writing what was read gives the same text again (SCH-2).
 */
export function readRtfs(text: string): Manifest {
  const { forms, comments } = parseRtfs(text);
  const complain = complainer(text);
  const [form, second] = forms;
  const head = form?.kind === 'list' ? form.items[0] : undefined;
  if (form?.kind !== 'list' || head?.kind !== 'symbol' || head.text !== 'capability') {
    throw complainAt(text, form?.at ?? 0, `expected (capability …), found ${nameOf(form)}`);
  }
  if (second) complain(second, 'expected one capability in a file');
  const id = nameIn(form.items[1], form, 'the id of the capability', complain);
  const fields = pairsOf(form.items.slice(2), form, complain);
  const textOf = (name: string, otherwise: string): string => {
    const field = fields.get(name);
    return field ? nameIn(field, form, `a string as :${name}`, complain) : otherwise;
  };
  const schemas = new Map<string, Shape>();
  for (const name of ['input-schema', 'output-schema']) {
    const type = fields.get(name);
    schemas.set(name, type ? readType(type, complain) : ANY);
  }
  applyValidations(text, schemas, comments);
  const input = schemas.get('input-schema')!;
  const output: JsonObject = schemaOf(schemas.get('output-schema')!);
  if (!id.startsWith('mcp.')) complain(form.items[1]!, `expected an id that begins with "mcp.", found "${id}"`);
  return {
    id,
    version: textOf('version', '1.0.0'),
    description: textOf('description', ''),
    inputSchema: schemaOf(input),
    ...(Object.keys(output).length > 0 ? { outputSchema: output } : {}),
    parameters: parametersOf(input),
    provider: readProvider(fields.get('provider'), form, complain),
    domains: stringsIn(fields.get('domains'), form, complain),
    categories: stringsIn(fields.get('categories'), form, complain),
    ...readFallback(text, comments),
  };
}

/** The mark of a tool that its server did not list; it stands in a comment. */
function readFallback(text: string, comments: ParsedText['comments']): Pick<Manifest, 'fallback'> {
  const comment = comments.find((each) => each.text.startsWith(FALLBACK));
  if (!comment) return {};
  const match =
    /^\{:provenance :(parsed|guessed|declared|predicted) :rung ("(?:[^"\\]|\\.)*") :confidence ([\d.]+) :callable false\}$/.exec(
      comment.text.slice(FALLBACK.length).trim(),
    );
  if (!match)
    throw complainAt(text, comment.at, 'expected "; fallback {:provenance … :rung … :confidence … :callable false}"');
  const provenance = match[1] as NonNullable<Manifest['fallback']>['provenance'];
  const rung = String(JSON.parse(match[2]!));
  return { fallback: { provenance, rung, confidence: Number(match[3]), callable: false } };
}
