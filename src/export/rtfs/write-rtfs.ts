import type { Manifest } from '../../model/manifest.js';
import { shapeOf } from '../read-schema.js';
import { nameText, stringsText, stringText } from './rtfs-text.js';
import type { LeafKind, MapEntry, Scalar, Shape } from '../shape.js';

/** How optional entries are printed: `[:k {:optional true} T]`, or `[:k T?]` for the parser of CCOS. */
export type RtfsDialect = 'standard' | 'ccos';

const TYPES: Readonly<Record<LeafKind, string>> = {
  any: ':any',
  string: ':string',
  int: ':int',
  float: ':float',
  bool: ':bool',
  null: ':any',
};

/** Begins the comment in which the allowed values of one type stand. */
export const VALIDATION = '; validation ';

/** Begins the comment that marks a tool which its server did not list. */
export const FALLBACK = '; fallback ';

function entryText({ key, optional, type }: MapEntry, indent: string, dialect: RtfsDialect): string {
  const text = typeText(type, dialect, indent);
  if (!optional) return `[${nameText(key)} ${text}]`;
  return dialect === 'ccos' ? `[${nameText(key)} ${text}?]` : `[${nameText(key)} {:optional true} ${text}]`;
}

/** An RTFS type; the entries of a map stand on lines of their own, two columns deeper than `indent`. */
export function typeText(shape: Shape, dialect: RtfsDialect = 'standard', indent = ''): string {
  switch (shape.kind) {
    case 'vector':
      return `[:vector ${typeText(shape.items, dialect, indent)}]`;
    case 'union':
      return `[:union ${shape.members.map((member) => typeText(member, dialect, indent)).join(' ')}]`;
    case 'map': {
      const deeper = `${indent}  `;
      return `[:map${shape.entries.map((entry) => `\n${deeper}${entryText(entry, deeper, dialect)}`).join('')}]`;
    }
    default:
      return TYPES[shape.kind];
  }
}

function scalarText(value: Scalar): string {
  if (typeof value === 'string') return stringText(value);
  return value === null ? 'nil' : String(value);
}

/** The values that types allow, each with the way to its type: keys of maps, `:items`, numbers of members. */
function validations(shape: Shape, path: readonly string[] = []): string[] {
  switch (shape.kind) {
    case 'vector':
      return validations(shape.items, [...path, ':items']);
    case 'union':
      return shape.members.flatMap((member, at) => validations(member, [...path, String(at)]));
    case 'map':
      return shape.entries.flatMap(({ key, type }) => validations(type, [...path, nameText(key)]));
    default: {
      const values = shape.values?.map((value) => scalarText(value)).join(' ');
      return values === undefined ? [] : [`[${path.join(' ')}] [${values}]`];
    }
  }
}

function providerText({ provider }: Manifest): string {
  const fields =
    'serverUrl' in provider
      ? [`:server-url ${stringText(provider.serverUrl)}`]
      : [`:command ${stringText(provider.command)}`, `:args ${stringsText(provider.args)}`];
  const lines = [':type :mcp', ...fields, `:tool-name ${stringText(provider.toolName)}`];
  return `{${lines.join('\n             ')}}`;
}

/** The `(capability …)` form of a manifest, its keys always in this order (SCH-2). */
export function capabilityText(manifest: Manifest, dialect: RtfsDialect = 'standard'): string {
  const { id, version, description, inputSchema, outputSchema, domains, categories } = manifest;
  const lines = [
    `(capability ${nameText(id)}`,
    `:version ${stringText(version)}`,
    `:description ${stringText(description)}`,
    `:input-schema ${typeText(shapeOf(inputSchema), dialect, '  ')}`,
    `:output-schema ${typeText(shapeOf(outputSchema), dialect, '  ')}`,
    `:provider ${providerText(manifest)}`,
    `:domains ${stringsText(domains)}`,
    `:categories ${stringsText(categories)})`,
  ];
  return lines.join('\n  ');
}

/**
 * A whole RTFS file: the form, then a comment for each type whose values are listed. A comment,
 * because the form has no place for them and other readers must not stumble over one.
 */
export function rtfsFile(manifest: Manifest, dialect: RtfsDialect = 'standard'): string {
  const schemas = [
    [':input-schema', manifest.inputSchema],
    [':output-schema', manifest.outputSchema],
  ] as const;
  const comments = schemas.flatMap(([name, schema]) =>
    validations(shapeOf(schema)).map((rest) => `${VALIDATION}${name} ${rest}\n`),
  );
  const { fallback } = manifest;
  const mark = fallback
    ? `${FALLBACK}{:provenance :${fallback.provenance} :rung ${stringText(fallback.rung)} :confidence ${fallback.confidence} :callable false}\n`
    : '';
  return `${capabilityText(manifest, dialect)}\n${comments.join('')}${mark}`;
}
