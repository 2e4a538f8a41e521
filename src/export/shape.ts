/** A value that may be listed as allowed. */
export type Scalar = string | number | boolean | null;

/** One key of a map. */
export interface MapEntry {
  readonly key: string;
  readonly optional: boolean;
  readonly type: Shape;
  /** What the schema says about it; only where it was asked for. */
  readonly note?: string;
}

/** The kinds that hold nothing else. */
export type LeafKind = 'any' | 'string' | 'int' | 'float' | 'bool' | 'null';

/**
 * What a JSON Schema says about the form of a value, and nothing else: the one tree that RTFS types
 * and TypeScript types are printed from. In normal form a union has two members or more, none of
 * them a union or `any`, and no two that print the same.
 */
export type Shape =
  | { readonly kind: LeafKind; readonly values?: readonly Scalar[] }
  | { readonly kind: 'vector'; readonly items: Shape }
  | { readonly kind: 'map'; readonly entries: readonly MapEntry[]; readonly rest?: Shape }
  | { readonly kind: 'union'; readonly members: readonly Shape[] };

/** What a node of a shape counts, in characters. */
export const NODE_COST = 16;

/** The shape of everything. */
export const ANY: Shape = { kind: 'any' };

/** A text that two shapes share exactly when they differ in nothing but listed values and notes. */
export function keyOf(shape: Shape): string {
  switch (shape.kind) {
    case 'vector':
      return `[${keyOf(shape.items)}]`;
    case 'map': {
      const entries = shape.entries.map(
        ({ key, optional, type }) => `${JSON.stringify(key)}${optional ? '?' : ''}${keyOf(type)}`,
      );
      return `{${entries.join(',')}${shape.rest ? `*${keyOf(shape.rest)}` : ''}}`;
    }
    case 'union':
      return `(${shape.members.map((member) => keyOf(member)).join('|')})`;
    default:
      return shape.kind;
  }
}

function withValues(kind: LeafKind, values: readonly Scalar[] | undefined): Shape {
  return values && values.length > 0 ? { kind, values } : { kind };
}

/** Two shapes of the same key as one that allows what either allows. */
function widen(a: Shape, b: Shape): Shape {
  if (a.kind === 'vector' && b.kind === 'vector') return { kind: 'vector', items: widen(a.items, b.items) };
  if (a.kind === 'map' && b.kind === 'map') {
    const entries = a.entries.map((entry, at) => ({ ...entry, type: widen(entry.type, b.entries[at]!.type) }));
    return { ...a, entries };
  }
  if (a.kind === 'union' && b.kind === 'union') {
    return { kind: 'union', members: a.members.map((member, at) => widen(member, b.members[at]!)) };
  }
  if (!('values' in a && 'values' in b && a.values && b.values)) return withValues(a.kind as LeafKind, undefined);
  return withValues(a.kind, [...new Set([...a.values, ...b.values])]);
}

/** What any of several shapes allows, in normal form. */
export function unite(shapes: readonly Shape[]): Shape {
  const distinct = new Map<string, Shape>();
  for (const shape of shapes.flatMap((each) => (each.kind === 'union' ? each.members : [each]))) {
    if (shape.kind === 'any') return ANY;
    const key = keyOf(shape);
    const same = distinct.get(key);
    distinct.set(key, same ? widen(same, shape) : shape);
  }
  const members = [...distinct.values()];
  if (members.length === 0) return ANY;
  return members.length === 1 ? members[0]! : { kind: 'union', members };
}

/** About how many characters a shape prints as. */
function sizeOf(shape: Shape): number {
  switch (shape.kind) {
    case 'vector':
      return NODE_COST + sizeOf(shape.items);
    case 'map':
      return shape.entries.reduce((sum, { key, type }) => sum + key.length + sizeOf(type), NODE_COST);
    case 'union':
      return shape.members.reduce((sum, member) => sum + sizeOf(member), NODE_COST);
    default:
      return (shape.values ?? []).reduce<number>((sum, value) => sum + String(value).length, NODE_COST);
  }
}

/** Takes from a budget; false when it is used up. */
export type Pay = (characters: number) => boolean;

type MapShape = Extract<Shape, { kind: 'map' }>;
type UnionShape = Extract<Shape, { kind: 'union' }>;

function meetMaps(a: MapShape, b: MapShape, pay: Pay): Shape | undefined {
  const entries = new Map(a.entries.map((entry) => [entry.key, entry]));
  for (const entry of b.entries) {
    const other = entries.get(entry.key);
    const type = other ? (meet(other.type, entry.type, pay) ?? ANY) : entry.type;
    entries.set(entry.key, { ...entry, ...other, optional: entry.optional && (other?.optional ?? true), type });
  }
  const rest = a.rest ?? b.rest;
  const met: Shape = { kind: 'map', entries: [...entries.values()], ...(rest ? { rest } : {}) };
  return pay(sizeOf(met)) ? met : undefined;
}

function meetUnion(union: UnionShape, meetWith: (member: Shape) => Shape | undefined): Shape | undefined {
  const members = union.members.map((member) => meetWith(member)).filter((member) => member !== undefined);
  return members.length === 0 ? undefined : unite(members);
}

/**
 * What both of two shapes allow; `undefined` when that is nothing. Choices multiply, so every step
 * is paid for: with an empty budget nothing meets.
 */
export function meet(a: Shape, b: Shape, pay: Pay): Shape | undefined {
  if (a.kind === 'any') return b.kind === 'any' && !b.values ? a : b;
  if (b.kind === 'any') return a;
  if (!pay(NODE_COST)) return undefined;
  if (a.kind === 'union') return meetUnion(a, (member) => meet(member, b, pay));
  if (b.kind === 'union') return meetUnion(b, (member) => meet(a, member, pay));
  if (a.kind === 'vector') {
    return b.kind === 'vector' ? { kind: 'vector', items: meet(a.items, b.items, pay) ?? ANY } : undefined;
  }
  if (a.kind === 'map') return b.kind === 'map' ? meetMaps(a, b, pay) : undefined;
  if (b.kind === 'vector' || b.kind === 'map') return undefined;
  if (a.kind === b.kind) {
    const common = a.values && b.values ? new Set(b.values) : undefined;
    return withValues(a.kind, common ? a.values!.filter((value) => common.has(value)) : (a.values ?? b.values));
  }
  const isNumber = (kind: LeafKind): boolean => kind === 'int' || kind === 'float';
  return isNumber(a.kind) && isNumber(b.kind) ? (a.kind === 'int' ? a : b) : undefined;
}
