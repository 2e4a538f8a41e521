import { randomUUID } from 'node:crypto';
import { chmod, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { isObject } from '../kernel/json.js';
import type { ServerEntry } from '../model/config.js';
import { formatOf, parseConfig } from './parse.js';
import { validateConfig } from './validate.js';

/** Which file a server is written to. */
export interface WriteOptions {
  /** The config that is in force, if it is a file. */
  readonly path?: string;
  /** Where a new one is made otherwise. */
  readonly cwd: string;
}

const SECTION = 'discovery';
const NEW_FILE = 'toolscout.config.json';

/** Where `servers` stands in this config. */
function placeOf(raw: unknown): string[] {
  const section = isObject(raw) ? raw[SECTION] : undefined;
  const isInside = isObject(section) && !(isObject(raw) && Object.hasOwn(raw, 'servers'));
  return isInside ? [SECTION, 'servers'] : ['servers'];
}

function cannot(path: string, reason: string, id: string, entry: ServerEntry): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `${path} ${reason}.`, {
    suggestion: `Add it under "servers" yourself: ${JSON.stringify({ [id]: entry })}`,
  });
}

async function editJson(text: string, place: string[], entry: ServerEntry): Promise<string> {
  const { applyEdits, modify } = await import('jsonc-parser');
  const source = text.trim() === '' ? '{}\n' : text;
  const insertSpaces = !/^\t/m.test(source);
  const eol = source.includes('\r\n') ? '\r\n' : '\n';
  return applyEdits(source, modify(source, place, entry, { formattingOptions: { insertSpaces, tabSize: 2, eol } }));
}

async function editYaml(text: string, place: string[], entry: ServerEntry): Promise<string> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  document.setIn(place, document.createNode(entry));
  return document.toString({ lineWidth: 0 });
}

/** A table at the end leaves everything before it, comments included, as it is. */
async function editToml(text: string, place: string[], entry: ServerEntry): Promise<string> {
  const { stringify } = await import('smol-toml');
  const nested = place.toReversed().reduce<unknown>((inner, key) => ({ [key]: inner }), entry);
  return `${text.trimEnd()}\n\n${stringify(nested as Record<string, unknown>)}\n`.trimStart();
}

/** Replaces a file whole or not at all, with the rights it had; a link stays a link. */
async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path);
  const { mode } = await stat(target);
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
    await chmod(draft, mode & 0o777);
    await rename(draft, target);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw new ToolscoutError('CONFIGURATION_ERROR', `${path} cannot be written: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

/**
 * Adds a server to a config file, keeping everything else in it as it is written, comments included. Without a file a new one
 * is made. A result that would not be a valid config is not written.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR`; its suggestion holds the entry to paste where a file is code.
 */
export async function writeServer(id: string, entry: ServerEntry, options: WriteOptions): Promise<string> {
  if (options.path === undefined) {
    const path = join(options.cwd, NEW_FILE);
    const text = `${JSON.stringify({ servers: { [id]: entry } }, null, 2)}\n`;
    await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((thrown: unknown) => {
      throw cannot(path, `cannot be written: ${messageOf(thrown)}`, id, entry);
    });
    return path;
  }
  const { path } = options;
  const format = formatOf(path);
  if (format === 'ts' || format === 'js' || format === 'mjs') {
    throw cannot(path, 'is code, which toolscout does not write', id, entry);
  }
  const text = await readFile(path, 'utf8');
  const before = await parseConfig(text, path);
  const servers = placeOf(before);
  const edit = format === 'toml' ? editToml : format === 'json' || format === 'jsonc' ? editJson : editYaml;
  const edited = await edit(text, [...servers, id], entry);
  const after = await parseConfig(edited, path).catch((thrown: unknown) => {
    throw cannot(path, `cannot be extended: ${messageOf(thrown)}`, id, entry);
  });
  // Only what the new server breaks is a reason to stop; other problems were there before.
  const known = new Set(validateConfig(before).problems.map((problem) => problem.path));
  const problem = validateConfig(after).problems.find((found) => !known.has(found.path));
  if (problem) throw cannot(path, `would not be valid: ${problem.path}: ${problem.message}`, id, entry);
  await replaceFile(path, edited);
  return path;
}
