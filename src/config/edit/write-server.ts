import { shellWord } from '../../kernel/remedy.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { JsonValue } from '../../kernel/json.js';
import type { Config, ServerEntry } from '../../model/config.js';
import type { Edit } from './edit.js';
import { editText } from './edit-text.js';
import { openFile, replaceFile } from './replace-file.js';
import { ownLaunchProblem, USUAL_PORT, type Self } from '../resolve/own-entry.js';
import { formatOf, parseData, type DataFormat } from '../read/parse.js';
import { valueAt } from '../read/path.js';
import { keysOfField } from '../read/raw-field.js';
import { isRegistryFile } from '../resolve/resolve-sources.js';
import { validateConfig } from '../check/validate.js';

/** Which file a server is written to. */
export interface WriteOptions {
  /** The config that is in force, if it is a file. */
  readonly path?: string;
  /** The file that is made otherwise. */
  readonly newPath: string;
  /** How toolscout itself is started and reached: it is not written. */
  readonly self?: Self;
  /** Where the configuration is served, unless at the usual port. */
  readonly http?: Pick<Config['http'], 'port' | 'publicUrl'>;
}

function refusal(path: string, reason: string, suggestion: string): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `${path} ${reason}.`, { suggestion, file: path });
}

const CORRECT_IT = 'Nothing was written. Correct the named value, then try again.';
const REGISTRY = 'is an mcp.json with a list of servers, which toolscout does not edit';

/** The format of a config that can be edited. */
function dataFormatOf(path: string, suggestion: string): DataFormat {
  const format = formatOf(path);
  if (format !== 'ts' && format !== 'js' && format !== 'mjs') return format;
  throw refusal(path, 'is code, which toolscout does not edit', suggestion);
}

/** What is wrong after a change and was not before; other problems are no reason to stop. */
function newProblem(before: unknown, after: unknown): string | undefined {
  const known = new Set(validateConfig(before).problems.map((problem) => problem.path));
  const problem = validateConfig(after).problems.find((found) => !known.has(found.path));
  return problem && `${problem.path}: ${problem.message}`;
}

/**
 * Adds a server to a config file, keeping everything else in it as it is written, comments included. Without a file a new one
 * is made. A result that would not be a valid config is not written.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR`; its suggestion holds the entry to paste where a file is code.
 */
export async function writeServer(id: string, entry: ServerEntry, options: WriteOptions): Promise<string> {
  const path = options.path ?? options.newPath;
  const paste = `Add this entry under "servers": ${JSON.stringify({ [id]: entry })}`;
  const { self, http } = options;
  const own = self && ownLaunchProblem(entry, self, { port: USUAL_PORT, ...http, config: path });
  if (own !== undefined) throw new ToolscoutError('INVALID_REQUEST', `The server "${id}" ${own}.`);
  // Before anything that suggests to paste the entry: one that is not valid is of no use there either.
  const invalid = newProblem({}, { servers: { [id]: entry } });
  if (invalid !== undefined) throw refusal(path, `would not be valid: ${invalid}`, CORRECT_IT);
  const format = dataFormatOf(path, paste);
  const opened = await openFile(path);
  if (opened.text === undefined && options.path !== undefined) throw refusal(path, 'no longer exists', paste);
  if (opened.text !== undefined && options.path === undefined) throw refusal(path, 'already exists', paste);
  const text = opened.text ?? '';
  const before = await parseData(text, path, format);
  if (isRegistryFile(before)) throw refusal(path, REGISTRY, paste);
  const keys = [...keysOfField(before, 'servers'), id];
  // Another program may have added it since the config was loaded.
  if (valueAt(before, keys) !== undefined) {
    throw refusal(
      path,
      `has a server "${id}" already`,
      `Choose another name, or run: toolscout remove ${shellWord(id)}`,
    );
  }
  const edit: Edit = { keys, value: entry as unknown as JsonValue };
  const edited = await editText(text, { path, format }, [edit]).catch((thrown: unknown) => {
    throw refusal(path, `cannot be extended: ${messageOf(thrown).replace(/\.$/, '')}`, paste);
  });
  const problem = newProblem(before, await parseData(edited, path, format));
  if (problem !== undefined) throw refusal(path, `would not be valid: ${problem}`, CORRECT_IT);
  await replaceFile(opened, edited);
  return path;
}

/**
 * Takes a server out of a config file, keeping everything else in it as it is written.
 *
 * @throws ToolscoutError `SERVER_NOT_FOUND` when the file has no such server; `CONFIGURATION_ERROR` when it cannot be edited.
 */
export async function removeServer(id: string, path: string): Promise<void> {
  const byHand = `Remove "${id}" from "servers" in that file.`;
  const format = dataFormatOf(path, byHand);
  const opened = await openFile(path);
  const text = opened.text ?? '';
  const before = await parseData(text, path, format);
  if (isRegistryFile(before)) throw refusal(path, REGISTRY, byHand);
  const keys = [...keysOfField(before, 'servers'), id];
  if (valueAt(before, keys) === undefined) {
    throw new ToolscoutError('SERVER_NOT_FOUND', `${path} has no server "${id}" of its own.`, {
      suggestion: 'Run toolscout servers --json: "source" of a server names the file it comes from.',
    });
  }
  const edited = await editText(text, { path, format }, [{ keys }]).catch((thrown: unknown) => {
    throw refusal(path, `cannot be changed: ${messageOf(thrown).replace(/\.$/, '')}`, byHand);
  });
  const problem = newProblem(before, await parseData(edited, path, format));
  if (problem !== undefined) throw refusal(path, `would not be valid without "${id}": ${problem}`, byHand);
  await replaceFile(opened, edited);
}
