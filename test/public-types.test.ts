import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

const TYPES = resolve('dist/types');
const TYPE_DECLARATIONS = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration']);

const nameOf = (node: unknown): string => (node as { readonly name?: string }).name ?? '';
const bodyOf = (path: string): Node[] =>
  parseAst(readFileSync(path, 'utf8'), { lang: 'dts', sourceType: 'module' }).body as unknown as Node[];

/** Where each name that a file exports is declared, as `file#name`. */
function exportsOf(path: string): string[] {
  return bodyOf(path).flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration') return [];
    const specifiers = node['specifiers'] as Node[];
    const source = node['source'] as { readonly value: string } | null;
    const local = (each: Node): string => nameOf(each['local']);
    if (!source) return specifiers.map((each) => `${path}#${local(each)}`);
    const from = resolve(dirname(path), source.value.replace(/\.js$/, '.d.ts'));
    return specifiers.map((each) => originOf(from, local(each)));
  });
}

/** Follows a name through the files that pass it on. */
function originOf(path: string, name: string): string {
  for (const node of bodyOf(path)) {
    if (node.type !== 'ExportNamedDeclaration' || node['declaration']) continue;
    const found = (node['specifiers'] as Node[]).find((each) => nameOf(each['exported']) === name);
    const source = node['source'] as { readonly value: string } | null;
    if (found && source)
      return originOf(resolve(dirname(path), source.value.replace(/\.js$/, '.d.ts')), nameOf(found['local']));
  }
  return `${path}#${name}`;
}

/** The types that a file declares, exported from it or not. */
function declaredIn(path: string): string[] {
  return bodyOf(path).flatMap((node) => {
    const declaration = (node['declaration'] as Node | null | undefined) ?? node;
    return TYPE_DECLARATIONS.has(declaration.type) ? [`${path}#${nameOf(declaration['id'])}`] : [];
  });
}

// The build leaves in dist/types only what a public signature reaches.
describe('the public types', () => {
  it('every type that a public signature reaches is exported from toolscout or from toolscout/compat', () => {
    const exported = new Set([join(TYPES, 'index.d.ts'), join(TYPES, 'app/compat/index.d.ts')].flatMap(exportsOf));
    const declared = readdirSync(TYPES, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.d.ts'))
      .flatMap((file) => declaredIn(join(TYPES, file)));
    expect(declared.length).toBeGreaterThan(100);
    expect(declared.filter((each) => !exported.has(each)).map((each) => each.slice(TYPES.length + 1))).toEqual([]);
  });
});
