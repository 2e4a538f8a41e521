import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolscoutError, type Problem } from '../../kernel/errors.js';
import { isDeeperThan } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { parseData } from '../../config/read/parse.js';
import { problemAt } from '../../config/read/path.js';
import type { SourceFile, SourcePath } from '../importer.js';
import type { SourceMemory } from '../../config/resolve/source-memory.js';

/** Bytes of a client's file. Some keep their whole history beside the servers; plain JSON of that size is read fast. */
const MAX_JSON = 16 * 1024 * 1024;

/** Bytes where a slower parser must look: comments in JSON, YAML, TOML. */
const MAX_OTHER = 1024 * 1024;

/** Files of one folder. */
const MAX_FILES = 100;

/** What was read, what could not be, and what stands in for it. */
export interface FilesRead {
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
  /** Files that cannot be read now and are used as they were last read, with the reason. */
  readonly kept: readonly Problem[];
}

function isAbsent(thrown: unknown): boolean {
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The files a path stands for: itself, or those of a folder, with those that were there a moment ago. */
async function unfold(path: SourcePath, memory: SourceMemory | undefined): Promise<SourcePath[]> {
  const { endings } = path;
  if (!endings) return [path];
  const remembered = (memory?.filesOf(path.path) ?? []).filter((file) => endings.some((end) => file.endsWith(end)));
  let present: string[] = [];
  try {
    const names = (await readdir(path.path)).filter((name) => endings.some((ending) => name.endsWith(ending)));
    present = names.map((name) => join(path.path, name));
  } catch (thrown) {
    if (!isAbsent(thrown) && remembered.length === 0) throw thrown;
  }
  return [...new Set([...present, ...remembered])]
    .toSorted()
    .slice(0, MAX_FILES)
    .map((file) => ({ ...path, path: file, endings: undefined }));
}

/** A text that is plain JSON, read at once; `undefined` when it needs the parser with comments and positions. */
function plainJson(text: string): { readonly data: unknown } | undefined {
  try {
    return { data: JSON.parse(text.replace(/^\ufeff/, '')) as unknown };
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

async function parse(text: string, path: SourcePath): Promise<unknown> {
  const plain = path.format === 'jsonc' ? plainJson(text) : undefined;
  if (plain) return plain.data;
  if (text.length <= MAX_OTHER) return parseData(text, path.path, path.format);
  throw new ToolscoutError('CONFIGURATION_ERROR', `is larger than ${MAX_OTHER} bytes`);
}

/** What is wrong with a file; one that is absent or empty may be on its way to being replaced. */
interface Unread {
  readonly state: 'unreadable' | 'absent' | 'empty';
  readonly reason: string;
}

async function readOne(path: SourcePath): Promise<SourceFile | Unread> {
  const unreadable = (reason: string): Unread => ({ state: 'unreadable', reason });
  try {
    const info = await stat(path.path);
    if (!info.isFile()) return unreadable('is not a regular file');
    if (info.size > MAX_JSON) return unreadable(`is larger than ${MAX_JSON} bytes`);
    const text = await readFile(path.path, 'utf8');
    if (text.trim() === '') return { state: 'empty', reason: 'is empty' };
    const data = await parse(text, path);
    if (isDeeperThan(data, LIMITS.depth)) return unreadable(`is nested deeper than ${LIMITS.depth} levels`);
    if (typeof data !== 'object' || data === null) return unreadable('does not contain an object');
    return { ...path, data };
  } catch (thrown) {
    if (isAbsent(thrown)) return { state: 'absent', reason: 'is not there' };
    // The parser's message begins with the path, which stands beside it already.
    const message = messageOf(thrown);
    return unreadable(message.startsWith(path.path) ? message.slice(path.path.length + 1).trim() : message);
  }
}

/**
 * Reads what exists of these files. One that cannot be read is a problem and hides none of the others; with a memory it
 * is used as it was last read.
 */
export async function readFiles(paths: readonly SourcePath[], memory?: SourceMemory): Promise<FilesRead> {
  const files: SourceFile[] = [];
  const problems: Problem[] = [];
  const kept: Problem[] = [];
  const take = async (path: SourcePath, folder: string | undefined): Promise<void> => {
    const read = await readOne(path);
    if ('data' in read) {
      files.push(read);
      memory?.remember(path.path, read.data, folder);
      return;
    }
    const { state, reason } = read;
    const before = memory?.recall(path.path, state === 'unreadable' ? state : 'absent');
    if (before) {
      files.push({ ...path, data: before.data });
      kept.push(problemAt(path.path, reason));
    } else if (state === 'unreadable') problems.push(problemAt(path.path, reason));
    // An empty file holds nothing, which is not wrong.
    else if (state === 'empty') files.push({ ...path, data: {} });
  };
  for (const path of paths) {
    try {
      for (const each of await unfold(path, memory)) await take(each, path.endings && path.path);
    } catch (thrown) {
      problems.push(problemAt(path.path, `cannot be read: ${messageOf(thrown)}`));
    }
  }
  return { files, problems, kept };
}
