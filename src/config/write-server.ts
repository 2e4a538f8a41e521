import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { JsonValue } from '../kernel/json.js';
import type { ServerEntry } from '../model/config.js';
import { editText } from './edit/edit-text.js';
import { openFile, replaceFile } from './edit/replace-file.js';
import { formatOf, parseData } from './parse.js';
import { valueAt } from './path.js';
import { keysOfField } from './raw-field.js';
import { validateConfig } from './validate.js';

/** Which file a server is written to. */
export interface WriteOptions {
  /** The config that is in force, if it is a file. */
  readonly path?: string;
  /** Where a new one is made otherwise. */
  readonly cwd: string;
}

const NEW_FILE = 'toolscout.config.json';

function cannot(path: string, reason: string, id: string, entry: ServerEntry): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `${path} ${reason}.`, {
    suggestion: `Add it under "servers" yourself: ${JSON.stringify({ [id]: entry })}`,
  });
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
  const opened = await openFile(path);
  if (opened.text === undefined) throw cannot(path, 'is not there any more', id, entry);
  const before = await parseData(opened.text, path, format);
  const keys = [...keysOfField(before, 'servers'), id];
  // Somebody may have added it since the config was loaded.
  if (valueAt(before, keys) !== undefined) throw cannot(path, `has a server "${id}" already`, id, entry);
  const edit = { keys, value: entry as unknown as JsonValue };
  const edited = await editText(opened.text, { path, format }, [edit]).catch((thrown: unknown) => {
    throw cannot(path, `cannot be extended: ${messageOf(thrown).replace(/\.$/, '')}`, id, entry);
  });
  // Only what the new server breaks is a reason to stop; other problems were there before.
  const known = new Set(validateConfig(before).problems.map((problem) => problem.path));
  const { problems } = validateConfig(await parseData(edited, path, format));
  const problem = problems.find((found) => !known.has(found.path));
  if (problem) throw cannot(path, `would not be valid: ${problem.path}: ${problem.message}`, id, entry);
  await replaceFile(opened, edited);
  return path;
}
