import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/** A node of the syntax tree, as far as it is looked at here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** A name that a file takes from elsewhere. `imported` is `*` for a whole module. */
interface Import {
  readonly source: string;
  readonly imported: string;
}

interface Statement {
  /** With the comment before it. */
  readonly text: string;
  readonly declares: readonly string[];
  readonly uses: ReadonlySet<string>;
}

interface Reexport {
  readonly local: string;
  readonly source?: string;
}

interface File {
  readonly imports: ReadonlyMap<string, Import>;
  readonly reexports: ReadonlyMap<string, Reexport>;
  readonly statements: readonly Statement[];
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const nameOf = (node: unknown): string => {
  const { name, value } = node as { name?: string; value?: string };
  return name ?? value ?? '';
};

/** Fields that hold the name of a member, not a reference to a declaration. */
const MEMBER_NAMES: Readonly<Record<string, string>> = {
  TSPropertySignature: 'key',
  TSMethodSignature: 'key',
  PropertyDefinition: 'key',
  MethodDefinition: 'key',
  TSQualifiedName: 'right',
};

function collectNames(value: unknown, names: Set<string>): void {
  if (Array.isArray(value)) {
    for (const each of value) collectNames(each, names);
    return;
  }
  if (!isNode(value)) return;
  if (value.type === 'TSImportType') throw new Error('An inline import() type is not supported: import it by name.');
  if (value.type === 'Identifier') names.add(nameOf(value));
  const skipped = value['computed'] === true ? undefined : MEMBER_NAMES[value.type];
  for (const [field, child] of Object.entries(value)) if (field !== skipped) collectNames(child, names);
}

function declaredBy(node: Node): string[] {
  const { declaration, declarations, id } = node as { declaration?: Node; declarations?: Node[]; id?: Node };
  if (declaration) return declaredBy(declaration);
  if (declarations) return declarations.map((each) => nameOf(each['id']));
  if (id) return [nameOf(id)];
  throw new Error(`A declaration of the type ${node.type} is not supported.`);
}

function readFile(path: string): File {
  const text = readFileSync(path, 'utf8');
  const imports = new Map<string, Import>();
  const reexports = new Map<string, Reexport>();
  const statements: Statement[] = [];
  let from = 0;
  for (const node of parseAst(text, { lang: 'dts', sourceType: 'module' }).body as unknown as Node[]) {
    const start = from;
    from = node.end;
    const source = node['source'] ? nameOf(node['source']) : undefined;
    if (node.type === 'ImportDeclaration') {
      for (const specifier of node['specifiers'] as Node[]) {
        const isWhole = specifier.type === 'ImportNamespaceSpecifier';
        const imported = isWhole ? '*' : nameOf(specifier['imported']);
        imports.set(nameOf(specifier['local']), { source: source!, imported });
      }
    } else if (node.type === 'ExportNamedDeclaration' && !node['declaration']) {
      for (const specifier of node['specifiers'] as Node[]) {
        reexports.set(nameOf(specifier['exported']), { local: nameOf(specifier['local']), source });
      }
    } else if (node.type === 'ExportAllDeclaration') {
      throw new Error(`${path} exports everything of ${source}: name what is exported.`);
    } else {
      const uses = new Set<string>();
      collectNames(node, uses);
      statements.push({ text: text.slice(start, node.end).trim(), declares: declaredBy(node), uses });
    }
  }
  return { imports, reexports, statements };
}

/**
 * Leaves in a folder of declarations only what the entries need: every exported declaration and what it refers to. What is
 * internal may refer to packages that are bundled and that users of the library do not have.
 */
function pruneTypes(folder: string, entries: readonly string[]): void {
  const files = new Map<string, File>();
  const kept = new Map<string, Set<Statement>>();
  const taken = new Map<string, Set<string>>();
  const fileAt = (path: string): File => {
    const known = files.get(path) ?? readFile(path);
    files.set(path, known);
    return known;
  };
  const pathOf = (from: string, source: string): string => resolve(dirname(from), source.replace(/\.js$/, '.d.ts'));
  const note = <T>(map: Map<string, Set<T>>, path: string, value: T): boolean => {
    const set = map.get(path) ?? new Set<T>();
    map.set(path, set);
    const isNew = !set.has(value);
    set.add(value);
    return isNew;
  };
  const keepIn = (path: string, local: string): void => {
    const { imports, statements } = fileAt(path);
    const found = imports.get(local);
    if (found && note(taken, path, local) && found.source.startsWith('.')) {
      keepExport(pathOf(path, found.source), found.imported);
    }
    for (const statement of statements.filter(({ declares }) => declares.includes(local))) {
      if (note(kept, path, statement)) for (const name of statement.uses) keepIn(path, name);
    }
  };
  const keepExport = (path: string, exported: string): void => {
    const reexport = fileAt(path).reexports.get(exported);
    if (!reexport) return keepIn(path, exported);
    if (!note(taken, path, `export ${exported}`)) return undefined;
    if (reexport.source === undefined) return keepIn(path, reexport.local);
    return keepExport(pathOf(path, reexport.source), reexport.local);
  };

  for (const entry of entries) {
    const { reexports, statements } = fileAt(entry);
    for (const name of reexports.keys()) keepExport(entry, name);
    for (const { declares } of statements) for (const name of declares) keepIn(entry, name);
  }

  const as = (name: string, alias: string): string => (name === alias ? name : `${name} as ${alias}`);
  const texts = [...new Set([...kept.keys(), ...taken.keys()])].map((path) => {
    const file = fileAt(path);
    const names = taken.get(path) ?? new Set();
    const imports = [...file.imports].filter(([local]) => names.has(local));
    const exports = [...file.reexports].filter(([exported]) => names.has(`export ${exported}`));
    const lines = [
      ...imports.map(([local, { source, imported }]) =>
        imported === '*'
          ? `import * as ${local} from '${source}';`
          : `import { ${as(imported, local)} } from '${source}';`,
      ),
      ...exports.map(
        ([exported, { local, source }]) =>
          `export { ${as(local, exported)} }${source === undefined ? '' : ` from '${source}'`};`,
      ),
      ...file.statements.filter((statement) => kept.get(path)?.has(statement)).map(({ text }) => text),
      // Without it a file that exports nothing else would export everything that it declares.
      'export {};',
    ];
    return [path, `${lines.join('\n')}\n`] as const;
  });
  rmSync(folder, { recursive: true });
  for (const [path, text] of texts) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

const folder = resolve('dist/types');
pruneTypes(folder, [join(folder, 'index.d.ts'), join(folder, 'app/compat/index.d.ts')]);
