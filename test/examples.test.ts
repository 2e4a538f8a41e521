import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { describe, expect, it, onTestFinished } from 'vitest';
import { validateConfig } from '../src/config/index.js';
import { parseConfig } from '../src/config/read/parse.js';
import { DiscoveryEngine } from '../src/app/compat/discovery-engine.js';
import { ERROR_TABLE } from '../src/kernel/errors.js';
import { compilePatterns } from '../src/kernel/patterns/pattern.js';
import { AUDIT_KINDS } from '../src/model/audit-record.js';
import { Config, RateLimitConfig, RetryConfig, RuleConfig, ServerEntry } from '../src/model/config.js';
import { compileRules } from '../src/normalize/index.js';
import { temporaryDirectory } from './support/fixture.js';
import { CLI, finish, type Finished } from './support/toolscout.js';
import { STARTS_PROCESSES } from './support/patience.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const LIBRARY = pathToFileURL(join(root, 'dist/index.js')).href;

/** Runs a program of this repository to its end. */
function run(...args: string[]): Promise<Finished> {
  return finish(spawn(process.execPath, args, { cwd: root, stdio: 'pipe' }));
}

/** Runs an example as its first line says. */
const runFromSource = (name: string): Promise<Finished> => run('--import', 'tsx', join(root, `examples/${name}.ts`));

/** Runs an example over the built library, which loads in a tenth of the time that its source takes. */
async function runOverBuild(name: string): Promise<Finished> {
  const bundle = await rolldown({
    input: join(root, `examples/${name}.ts`),
    platform: 'node',
    external: /^(?![./]|[A-Za-z]:)/,
    plugins: [
      { name: 'built', resolveId: (id) => (id.startsWith('../src/') ? { id: LIBRARY, external: true } : null) },
    ],
  });
  // Beside its source: it looks for files from where it lies.
  const file = join(root, `examples/.${name}-${process.pid}.js`);
  onTestFinished(() => rm(file, { force: true }));
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  return run(file);
}

const read = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The rows of every table of a page, cells trimmed, heads and rulers included. */
function rowsOf(page: string): string[][] {
  const lines = read(page)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return lines.map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** The text between backticks. */
const code = (cell: string): string => cell.replace(/^`|`$/g, '');

const PAGES = [
  ...readdirSync(root),
  ...['docs', 'docs/adr', 'docs/coming-from'].flatMap((folder) => pagesIn(folder)),
].filter((page) => page.endsWith('.md'));

function pagesIn(folder: string): string[] {
  return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
}

describe('the examples', STARTS_PROCESSES, () => {
  it('EXEC-1 FIND-1 PAT-5 library.ts searches, reads details, runs, is refused and follows progress', async () => {
    const { code: exit, stdout, stderr } = await runOverBuild('library');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^found {4}filesystem:read_text_file/);
    expect(stdout).toMatch(/^details {2}\{"type":"object".*"required":\["a","b"\]\}$/m);
    expect(stdout).toContain('The sum of 2 and 3 is 5.');
    expect(stdout).toMatch(/^refused {2}TOOL_DISABLED: .*rule 1 \(pattern/m);
    expect(stdout).toMatch(/^progress 1\/2\nprogress 2\/2\ndone {5}true\n$/m);
  });

  it('PAT-4 rules.config.ts offers what its rules allow and says why not the rest', async () => {
    const { code: exit, stdout, stderr } = await runOverBuild('rules.config');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toContain('everything:get-sum []\n');
    expect(stdout).toContain('filesystem:read_file [read-only, local]\n');
    expect(stdout).toContain('memory:read_graph [read-only, graph]\n');
    expect(stdout).not.toMatch(/^\w+:(?:delete|move|write|create)/m);
    expect(stdout).toContain('"filesystem:move_file" is disabled by rule 1 (pattern');
    expect(stdout).toContain('"filesystem:write_file" is disabled: no rule enables it');
  });

  it('CFG-1 rules.config.ts is a config file that the command line takes', async () => {
    const state = await temporaryDirectory();
    const flags = ['--config', 'examples/rules.config.ts', '--state-dir', state, '--json'];
    const listed = await run(CLI, 'tools', 'memory', ...flags);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const { tools } = JSON.parse(listed.stdout) as { tools: Array<{ tool: string }> };
    expect(tools.map(({ tool }) => tool)).toEqual(['read_graph', 'search_nodes']);
  });

  it('META-1 META-3 DOC-5 host.ts finds and runs a tool through serve --stdio, as README.md shows it', async () => {
    const { code: exit, stdout, stderr } = await runFromSource('host');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^told {5}.*Behind it: everything, filesystem, memory\./);
    expect(stdout).toContain('menu     search_tools, get_tool_details, execute_tool, list_mcp_servers, list_tools\n');
    expect(stdout).toContain('get-sum(a: number, b: number)');
    expect(stdout).toContain('execute  The sum of 2 and 3 is 5.\n');
    expect(stdout).toMatch(/^refused {2}error \{"code":"TOOL_VALIDATION_ERROR"/m);
    // How relevant a hit is changes with the ranking.
    const plain = (text: string): string => text.replaceAll(/"relevance":[\d.]+/g, '"relevance":0');
    const shown = [...read('README.md').matchAll(/^toolscout {2}(.+)$/gm)].map((match) => plain(match[1]!));
    expect(shown).toHaveLength(2);
    for (const answer of shown) expect(plain(stdout)).toContain(answer);
  });
});

describe('the examples that mount the API in an app', STARTS_PROCESSES, () => {
  it.each([
    ['hono', /^app {7}my own app\nregistry {2}200 memory \(stdio\)\nagain {5}304\n$/],
    ['express', /^app {7}my own app\nstranger {2}401\nsearch {4}200 filesystem:read_text_file\nnothing {3}404\n$/],
    ['fastify', /^app {7}my own app\nregistry {2}200 sha256- 0\nwrong {5}400 application\/problem\+json.* alive\n$/],
  ])('REG-10 mount-%s.ts serves the routes beside its own', async (name, output) => {
    const { code: exit, stdout, stderr } = await runOverBuild(`mount-${name}`);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(output);
  });
});

/** A page without code, in which brackets before parentheses are no link. */
const withoutCode = (page: string): string => page.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '');

describe('the docs', STARTS_PROCESSES, () => {
  it('EXEC-3 docs/errors.md is the table of errors', () => {
    const rows = rowsOf('docs/errors.md').filter(([first]) => first?.startsWith('`'));
    const table = Object.entries(ERROR_TABLE).map(([name, { status, exit, severity, suggestion }]) => [
      `\`${name}\``,
      String(status),
      String(exit),
      severity,
      suggestion,
    ]);
    expect(rows).toEqual(table);
  });

  it('EXEC-5 docs/json-output.md names every kind of audit record', () => {
    const listed = /`kind` is ([^.]*)\./.exec(read('docs/json-output.md'))?.[1] ?? '';
    expect([...listed.matchAll(/`([^`]+)`/g)].map((match) => match[1]).toSorted()).toEqual([...AUDIT_KINDS].toSorted());
  });

  it('CFG-2 docs/configuration.md names every field and its default', () => {
    const page = read('docs/configuration.md');
    const defaults = Config.parse({});
    const { cache, http, limits } = defaults;
    const nested = Object.entries({ cache, http, limits }).flatMap(([section, fields]) =>
      Object.entries(fields).map(([key, value]) => [`${section}.${key}`, value] as const),
    );
    const simple = Object.entries(defaults).filter(([, value]) => typeof value !== 'object');
    // The first table is that of the whole config; later ones may use a name again.
    const rows = new Map(
      rowsOf('docs/configuration.md')
        .map((row) => [code(row[0]!), row] as const)
        .toReversed(),
    );
    const shown = ([key, value]: readonly [string, unknown]): boolean => {
      const text = Array.isArray(value) ? '[]' : String(value);
      return code(rows.get(key)?.[1] ?? '') === text || page.includes(`\`${key}\` (\`${text}\`)`);
    };
    expect([...nested, ...simple].filter((field) => !shown(field))).toEqual([]);

    const settings = { ...RateLimitConfig.parse({}), ...RetryConfig.parse({}) };
    expect(Object.entries(settings).filter(([key, value]) => !page.includes(`${key}: ${value}`))).toEqual([]);
    const names = [Config, ServerEntry, RuleConfig].flatMap((schema) => Object.keys(schema.shape));
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('CFG-3 every config in README.md and docs is valid', async () => {
    const blocks = PAGES.flatMap((page) =>
      [...read(page).matchAll(/^```jsonc\n([\s\S]*?)^```$/gm)].map((match) => ({ page, text: match[1]! })),
    );
    expect(blocks.length).toBeGreaterThanOrEqual(3);
    for (const { page, text } of blocks) {
      const config = (await parseConfig(text, `${page}.jsonc`)) as { servers?: object };
      const { problems, warnings } = validateConfig(config);
      expect({ page, problems }).toEqual({ page, problems: [] });
      // An excerpt without servers cannot help naming one that is not there.
      if (config.servers) expect({ page, warnings }).toEqual({ page, warnings: [] });
    }
  });

  it('PAT-1 PAT-2 PAT-3 the cases of docs/rules.md hold', () => {
    const cases = rowsOf('docs/rules.md').filter((row) => row.length === 4 && /^`(?:"|\["[^{])/.test(row[0]!));
    expect(cases.length).toBeGreaterThan(15);
    const wrong = cases.filter(([pattern, server, tool, matches]) => {
      const list = compilePatterns(JSON.parse(code(pattern!)) as string | string[]);
      return list.matches(code(server!), code(tool!)) !== (matches === 'yes');
    });
    expect(wrong).toEqual([]);
  });

  it('PAT-4 the decisions of docs/rules.md hold', () => {
    const cases = rowsOf('docs/rules.md').filter((row) => row.length === 4 && /^`\[(?:\]|\{)/.test(row[0]!));
    expect(cases.length).toBeGreaterThan(5);
    const wrong = cases.filter(([rules, tool, by, enabled]) => {
      const { decision } = compileRules(JSON.parse(code(rules!)) as never).decide('any', code(tool!));
      const decider = decision.rule === undefined ? 'default' : `rule ${decision.rule + 1}`;
      return decider !== by || decision.enabled !== (enabled === 'yes');
    });
    expect(wrong).toEqual([]);
  });

  it('DOC-2 every item of docs/compat.md works, or differs with a reason', () => {
    const rows = rowsOf('docs/compat.md').filter(([first]) => first !== 'item' && !/^-+$/.test(first!));
    const wrong = rows.filter(
      ([item, here, verdict, ...more]) =>
        !item || !here || more.length > 0 || !/^(?:works|differs, because \S.*\S)$/.test(verdict ?? ''),
    );
    expect(wrong).toEqual([]);
    const documents = read('docs/compat.md').split(/^## /m).slice(1);
    expect(documents.map((text) => text.includes('| works')).filter(Boolean)).toHaveLength(5);
    expect(read('README.md')).toContain('(docs/compat.md)');
  });

  it('DOC-3 every class and method that docs/classes.md names is exported', async () => {
    const library: Record<string, unknown> = await import('../src/app/compat/index.js');
    const classes = [...read('docs/classes.md').matchAll(/^(?:\| |## )`?([A-Z]\w+)`?(?: +\||$)/gm)].map(
      (match) => match[1]!,
    );
    expect(classes).toContain('ToolMetadataManager');
    expect(classes.filter((name) => typeof library[name] !== 'function')).toEqual([]);
    const methods = rowsOf('docs/classes.md').flatMap(([cell]) =>
      [...cell!.matchAll(/`(\w+)\(/g)].map((match) => match[1]!),
    );
    expect(methods).toContain('executeStream');
    expect(methods.filter((name) => !(name in DiscoveryEngine.prototype))).toEqual([]);
  });

  it('DOC-3 every name that code in the docs imports from the package is exported', async () => {
    const entries: Record<string, object> = {
      toolscout: await import('../src/index.js'),
      'toolscout/compat': await import('../src/app/compat/index.js'),
    };
    const imports = PAGES.flatMap((page) =>
      [...read(page).matchAll(/^import \{([^}]*)\} from '(toolscout[^']*)';/gm)].map((match) => ({
        page,
        from: match[2]!,
        names: match[1]!.split(',').map((name) => name.trim()),
      })),
    );
    expect(imports.length).toBeGreaterThanOrEqual(5);
    const missing = imports.flatMap(({ page, from, names }) =>
      names.filter((name) => !(name in (entries[from] ?? {}))).map((name) => `${page}: ${name} from ${from}`),
    );
    expect(missing).toEqual([]);
  });

  it('DOC-5 the session in README.md is what its commands print', STARTS_PROCESSES, async () => {
    const session = /^```console\n([\s\S]*?)^```$/m.exec(read('README.md'))![1]!;
    const steps = session.split(/^\$ npx toolscout /m).slice(1);
    expect(steps.length).toBeGreaterThanOrEqual(3);
    const flags = ['--state-dir', await temporaryDirectory()];
    const command = (...words: string[]): Promise<Finished> =>
      finish(spawn(process.execPath, [CLI, ...words, ...flags], { cwd: root, stdio: 'pipe' }));
    // A search waits for unknown servers only for a while: on a busy machine it would name fewer tools.
    expect(await command('discover', '--demo')).toMatchObject({ code: 0 });
    for (const step of steps) {
      const end = step.indexOf('\n');
      const words = [...step.slice(0, end).matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2]!);
      const { stdout, stderr } = await command(...words);
      expect({ words, printed: (stdout + stderr).trimEnd() }).toEqual({
        words,
        printed: step.slice(end + 1).trimEnd(),
      });
    }
  });

  it('DOC-5 README.md counts the clients that docs/hosts.md names', () => {
    const listed = /^Supported clients: ([^.]*)\./m.exec(read('docs/hosts.md'))![1]!.match(/`[\w-]+`/g)!;
    const [, named, more] = /# or (.+) and (\d+) more$/m.exec(read('README.md'))!;
    const first = ['cursor', ...named!.split(', ')];
    expect(first.filter((client) => !listed.includes(`\`${client}\``))).toEqual([]);
    expect(first.length + Number(more)).toBe(listed.length);
  });

  it('DOC-5 docs/README.md links every page of docs', () => {
    const linked = [...read('docs/README.md').matchAll(/\]\(([^)]+\.md)\)/g)].map((match) => `docs/${match[1]}`);
    const pages = PAGES.filter((page) => /^docs\/(?!adr\/|README)/.test(page));
    expect(linked.toSorted()).toEqual(pages.toSorted());
  });

  it('DOC-1 every relative link points to a file', () => {
    const broken = PAGES.flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
        .map((match) => join(root, dirname(page), match[1]!))
        .filter((target) => !existsSync(target))
        .map((target) => `${page} → ${relative(root, target)}`),
    );
    expect(broken).toEqual([]);
  });
});
