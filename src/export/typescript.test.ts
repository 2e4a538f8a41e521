import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { readCorpus } from '../../test/support/recorded-servers.js';
import { stdioServer } from '../../test/support/test-server.js';
import { STARTS_PROCESSES } from '../../test/support/patience.js';
import type { JsonObject } from '../kernel/json.js';
import { compileRules, normalizeTool } from '../normalize/index.js';
import { sectionOf, type Section } from './section.js';
import { typescriptText } from './typescript.js';

const RULES = compileRules([]);
const TSC = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

function section(id: string, tools: readonly JsonObject[]): Section {
  const server = stdioServer(id, { command: 'x' });
  return sectionOf(
    server,
    tools.map((tool) => normalizeTool(server, tool, RULES)),
  );
}

/** What the compiler says about these declarations, with code that uses them. */
async function compile(text: string, use = ''): Promise<string> {
  const folder = await temporaryDirectory();
  await writeFile(join(folder, 'tools.ts'), text);
  await writeFile(join(folder, 'use.ts'), `import type * as t from './tools.js';\nexport type All = t.Tools;\n${use}`);
  const flags = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', ''];
  const run = promisify(execFile)(TSC, [...flags, join(folder, 'use.ts'), join(folder, 'tools.ts')]);
  return run.then(
    ({ stdout }) => stdout,
    (failed: { stdout: string }) => failed.stdout,
  );
}

describe('TypeScript declarations', STARTS_PROCESSES, () => {
  it('SCH-8 say what a tool takes and answers', () => {
    const tool = {
      name: 'list_issues',
      description: 'List issues */ alert(1) /*',
      inputSchema: {
        type: 'object',
        properties: {
          owner: { type: 'string', description: 'Who' },
          state: { enum: ['open', 'closed'] },
          'page-size': { type: ['integer', 'null'] },
          labels: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'boolean' }] } },
          more: { type: 'object', additionalProperties: { type: 'number' } },
        },
        required: ['owner'],
        additionalProperties: true,
      },
    };
    expect(typescriptText([section('git-hub', [tool])]))
      .toBe(`// Written by toolscout from the schemas of the servers; changes are lost with the next export.

/** Every exported tool by its address, with what it takes and what it answers. */
export interface Tools {
  "git-hub:list_issues": { input: GitHubListIssuesInput; output: GitHubListIssuesOutput };
}

/** List issues *\\/ alert(1) /* */
export type GitHubListIssuesInput = {
  /** Who */
  owner: string;
  state?: "open" | "closed";
  "page-size"?: number | null;
  labels?: Array<string | boolean>;
  more?: Record<string, number>;
  [key: string]: unknown;
};

export type GitHubListIssuesOutput = unknown;
`);
  });

  it('SCH-8 every name is valid and its own', () => {
    const names = [
      'list_issues',
      'listIssues',
      'ListIssues',
      'ListIssues2',
      '工具',
      '7zip',
      '',
      'a/b',
      'a_b',
      'constructor',
      '__proto__',
      'ListIssuesInput',
    ];
    const text = typescriptText([
      section(
        '1',
        names.map((name) => ({ name })),
      ),
      section(
        '+',
        names.map((name) => ({ name })),
      ),
    ]);
    const declared = [...text.matchAll(/^export (?:type|interface) (\S+)/gm)].map((match) => match[1]!);
    expect(new Set(declared).size).toBe(declared.length);
    expect(declared).toHaveLength(names.length * 4 + 1);
    expect(declared.filter((name) => !/^[A-Za-z]\w*$/.test(name))).toEqual([]);
  });

  it('SCH-8 compile for all recorded tools, and refuse wrong arguments', async () => {
    const sections = readCorpus().map(({ id, tools }) => section(id, tools));
    expect(sections.reduce((sum, { tools }) => sum + tools.length, 0)).toBeGreaterThan(3000);
    const use = `
      export const good: t.ModelcontextprotocolServerGithubCreateIssueInput = { owner: 'a', repo: 'b', title: 'c' };
      // @ts-expect-error the title is missing
      export const bad: t.Tools['modelcontextprotocol__server-github:create_issue']['input'] = { owner: 'a', repo: 'b' };
    `;
    expect(await compile(typescriptText(sections), use)).toBe('');
  });

  it('SCH-8 compile whatever names, keys, values and descriptions servers send', async () => {
    const odd = fc.oneof(
      anyText({ maxLength: 8 }),
      fc.constantFrom(
        '*/',
        '/**',
        '`${x}`',
        '\\',
        '"',
        "'",
        '\u2028',
        '__proto__',
        'constructor',
        '// x',
        '\r',
        'class',
      ),
    );
    const tools = fc.sample(
      fc.record({
        name: odd,
        description: fc.array(odd, { maxLength: 4 }).map((parts) => parts.join('\n')),
        inputSchema: fc.record({
          type: fc.constant('object'),
          properties: fc.dictionary(odd, fc.record({ enum: fc.array(odd), description: odd })),
          required: fc.array(odd),
          additionalProperties: fc.boolean(),
        }),
        outputSchema: fc.record({
          anyOf: fc.array(
            fc.record({
              properties: fc.dictionary(odd, fc.constant({ type: 'array', items: { type: ['string', 'null'] } })),
            }),
          ),
        }),
      }),
      { numRuns: 150, seed: 7 },
    ) as unknown as JsonObject[];
    const distinct = [...new Map(tools.map((tool) => [tool.name, tool])).values()];
    expect(await compile(typescriptText([section('s', distinct)]))).toBe('');
  });
});
