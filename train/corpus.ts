import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '../src/kernel/json.js';

/** What training reads of a tool. */
export interface CorpusTool {
  readonly name: string;
  readonly description: string;
  /** Names and descriptions of its parameters. */
  readonly parameters: string;
}

/** A place that tools come from, and the licence they come under. */
export interface Source {
  readonly name: string;
  readonly licence: string;
  readonly tools: readonly CorpusTool[];
}

/** The sources in the ocean set are told apart by the field `src` of a line. */
const OCEAN: Readonly<Record<string, string>> = {
  toucan: 'Apache-2.0',
  mcpzero: 'Apache-2.0',
  docker: 'MIT',
  mcphub: 'Apache-2.0',
  'livemcp-task': 'Apache-2.0',
  'mcpproxy-golden': 'MIT',
};

/** Sets with a file of tools of their own. */
const SETS: Readonly<Record<string, string>> = { bfcl: 'Apache-2.0', metatool: 'MIT', sealtools: 'Apache-2.0' };

/** Reads the wanted sources of a corpus folder, in the order they are named. Queries are never opened. */
export function readCorpus(folder: string, wanted: readonly string[]): Source[] {
  return wanted.map((name) => {
    if (name === 'servers') return { name, licence: "each server's own", tools: readServers(join(folder, 'servers')) };
    const licence = OCEAN[name] ?? SETS[name];
    if (licence === undefined) throw new Error(`There is no source "${name}".`);
    const set = name in OCEAN ? 'mcp-ocean' : name;
    const lines = readLines(join(folder, 'retrieval', set, 'tools.jsonl'));
    return { name, licence, tools: lines.filter((line) => set === name || line['src'] === name).map(toTool) };
  });
}

function readServers(folder: string): CorpusTool[] {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .flatMap((file) => {
      const { tools } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { tools: JsonObject[] };
      return tools.map(toTool);
    });
}

function readLines(path: string): JsonObject[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject);
}

function toTool(definition: JsonObject): CorpusTool {
  const schema = definition['inputSchema'];
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const parameters = Object.entries(properties).map(
    ([name, property]) => `${name} ${isObject(property) ? text(property['description']) : ''}.`,
  );
  return {
    name: text(definition['name']),
    description: text(definition['description']),
    parameters: parameters.join(' '),
  };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
