import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ConfigInput } from '../model/config.js';

/** The version of the demo servers that toolscout is tested with. */
const DEMO_VERSION = '2026.8.31';

const PACKAGES = {
  everything: '@modelcontextprotocol/server-everything',
  filesystem: '@modelcontextprotocol/server-filesystem',
  memory: '@modelcontextprotocol/server-memory',
} as const;

/** The program of an installed package, or `undefined` when it is not installed beside toolscout. */
function programOf(name: string): string | undefined {
  const folder = createRequire(import.meta.url)
    .resolve.paths(name)
    ?.map((directory) => join(directory, name))
    .find((directory) => existsSync(join(directory, 'package.json')));
  if (folder === undefined) return undefined;
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin?: Record<string, string> };
  const program = Object.values(bin ?? {})[0];
  return program === undefined ? undefined : join(folder, program);
}

function launch(name: string, args: readonly string[]): { command: string; args: string[] } {
  const program = programOf(name);
  return program === undefined
    ? { command: 'npx', args: ['-y', `${name}@${DEMO_VERSION}`, ...args] }
    : { command: process.execPath, args: [program, ...args] };
}

/** True when the demo servers stand beside toolscout, as they do in a checkout of its source. */
export function isDemoInstalled(): boolean {
  return Object.values(PACKAGES).every((name) => programOf(name) !== undefined);
}

/** Three real servers to try toolscout with: files below `directory`, a memory, and one of everything. */
export function demoConfig(options: { readonly directory: string; readonly stateDirectory: string }): ConfigInput {
  return {
    servers: {
      everything: { ...launch(PACKAGES.everything, ['stdio']), title: 'Everything: one tool of each kind' },
      filesystem: { ...launch(PACKAGES.filesystem, [options.directory]), title: `Files below ${options.directory}` },
      memory: {
        ...launch(PACKAGES.memory, []),
        env: { MEMORY_FILE_PATH: join(options.stateDirectory, 'demo-memory.jsonl') },
        title: 'A knowledge graph that remembers',
      },
    },
  };
}
