import { addressOf } from '../kernel/ids.js';
import type { JsonValue } from '../kernel/json.js';
import { printable } from '../kernel/text.js';
import type { Tool } from '../model/tool.js';
import { shapeOf } from './read-schema.js';
import type { Section } from './section.js';
import type { LeafKind, MapEntry, Scalar, Shape } from './shape.js';

const TYPES: Readonly<Record<LeafKind, string>> = {
  any: 'unknown',
  string: 'string',
  int: 'number',
  float: 'number',
  bool: 'boolean',
  null: 'null',
};

const HEAD =
  '// Written by toolscout from the schemas of the servers; changes are lost with the next export.\n\n' +
  '/** Every exported tool by its address, with what it takes and what it answers. */\n';

/** Characters of one line of a comment. */
const COMMENT_WIDTH = 110;

/** Foreign text as a comment: nothing in it can end the comment or hide code. */
function commentText(text: string, indent: string): string {
  const safe = printable(text.replace(/\r\n?|[\u2028\u2029]/g, '\n')).replaceAll('*/', '*\\/');
  const lines = safe
    .trim()
    .split('\n')
    .map((line) => line.trimEnd());
  if (lines.join('') === '') return '';
  const isShort = lines.length === 1 && lines[0]!.length <= COMMENT_WIDTH;
  if (isShort) return `${indent}/** ${lines[0]} */\n`;
  const body = lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n');
  return `${indent}/**\n${body}\n${indent} */\n`;
}

function literalText(value: Scalar): string {
  return printable(JSON.stringify(value));
}

function entryText({ key, optional, type, note }: MapEntry, indent: string): string {
  const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : literalText(key);
  return `${commentText(note ?? '', indent)}${indent}${name}${optional ? '?' : ''}: ${typeText(type, indent)};\n`;
}

function mapText({ entries, rest }: Extract<Shape, { kind: 'map' }>, indent: string): string {
  if (entries.length === 0) return `Record<string, ${rest ? typeText(rest, indent) : 'unknown'}>`;
  const deeper = `${indent}  `;
  // Known keys may be of any type, so what is said of further ones cannot be narrower.
  const more = rest ? `${deeper}[key: string]: unknown;\n` : '';
  return `{\n${entries.map((entry) => entryText(entry, deeper)).join('')}${more}${indent}}`;
}

/** A shape as a TypeScript type. */
function typeText(shape: Shape, indent: string): string {
  switch (shape.kind) {
    case 'vector':
      return `Array<${typeText(shape.items, indent)}>`;
    case 'map':
      return mapText(shape, indent);
    case 'union':
      return shape.members.map((member) => typeText(member, indent)).join(' | ');
    default:
      return shape.values?.map((value) => literalText(value)).join(' | ') ?? TYPES[shape.kind];
  }
}

/** The words of names as one name in PascalCase that TypeScript takes. */
function pascal(...names: readonly string[]): string {
  const words = names.flatMap((name) => name.slice(0, 100).split(/[^A-Za-z0-9]+/)).filter((word) => word !== '');
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(joined) ? joined : `Tool${joined}`;
}

/** Gives every wish a name of its own; the first to come gets the plain one. */
function createNames(): (wish: string) => string {
  const used = new Set<string>();
  const next = new Map<string, number>();
  const isFree = (name: string): boolean => !used.has(`${name}Input`) && !used.has(`${name}Output`);
  return (wish) => {
    let name = wish;
    let count = next.get(wish) ?? 2;
    while (!isFree(name)) name = `${wish}${count++}`;
    next.set(wish, count);
    used.add(`${name}Input`).add(`${name}Output`);
    return name;
  };
}

/**
 * TypeScript declarations of what tools take and answer (SCH-8). They compile whatever the schemas
 * say; what cannot be said in types, or goes beyond the bounds, is `unknown`.
 */
export function typescriptText(sections: readonly Section[]): string {
  const nameFor = createNames();
  const types: string[] = [];
  const rows = new Map<string, string>();
  for (const { server, tools } of sections) {
    for (const { manifest } of tools) {
      const { toolName } = manifest.provider;
      const name = nameFor(pascal(server.id, toolName));
      const input = typeText(shapeOf(manifest.inputSchema, { rich: true }), '');
      const output = typeText(shapeOf(manifest.outputSchema, { rich: true }), '');
      const about = commentText(manifest.description, '');
      types.push(`${about}export type ${name}Input = ${input};\n`, `export type ${name}Output = ${output};\n`);
      const address = literalText(addressOf(server.id, toolName));
      rows.set(address, `  ${address}: { input: ${name}Input; output: ${name}Output };\n`);
    }
  }
  return `${HEAD}export interface Tools {\n${[...rows.values()].join('')}}\n\n${types.join('\n')}`;
}

/** How a name follows a dot or stands in brackets. */
function member(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'then' && name !== 'toJSON'
    ? `.${name}`
    : `[${literalText(name)}]`;
}

/** How a script names a tool: `tools.github.list_issues`, `tools["a-b"]["c.d"]`. */
function scriptPath({ server, name }: Pick<Tool, 'server' | 'name'>): string {
  const isReserved = [server, name].some((each) => each === 'then' || each === 'toJSON');
  return isReserved ? `tools[${literalText(addressOf(server, name))}]` : `tools${member(server)}${member(name)}`;
}

/**
 * The declaration of a tool as a script calls it (CODE-2). A brief one is one line without descriptions; with `answer` it is the type of the
 * answer alone.
 */
export function toolDeclaration(
  tool: Tool,
  { brief = false, answer = false }: { readonly brief?: boolean; readonly answer?: boolean } = {},
): string {
  const { inputSchema, outputSchema = tool.inferredOutput } = tool.definition;
  const rich = !brief;
  const typeOf = (schema: JsonValue | undefined): string => {
    const text = typeText(shapeOf(schema, { rich }), '');
    return brief ? text.replace(/\n\s*/g, ' ') : text;
  };
  if (answer) return typeOf(outputSchema);
  const shape = shapeOf(inputSchema, { rich });
  const isOptional = shape.kind !== 'map' || shape.entries.every(({ optional }) => optional);
  const about = brief ? '' : commentText(tool.description || tool.summary, '');
  return `${about}${scriptPath(tool)}(args${isOptional ? '?' : ''}: ${typeOf(inputSchema)}): Promise<${typeOf(outputSchema)}>;`;
}
