import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ToolscoutError, type Problem } from '../../kernel/errors.js';
import { isDeeperThan } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { parseData } from '../parse.js';
import { problemAt } from '../path.js';
import type { SourceFile, SourcePath } from './importer.js';

/** Bytes of a client's file. Some keep their whole history beside the servers; plain JSON of that size is read fast. */
const LARGEST_JSON = 16 * 1024 * 1024;

/** Bytes where a slower parser must look: comments in JSON, YAML, TOML. */
const LARGEST_OTHER = 1024 * 1024;

/** Files of one folder. */
const MOST_FILES = 100;

/** What was read, what could not be, and every place that was looked at. */
export interface FilesRead {
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
}

function isAbsent(thrown: unknown): boolean {
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The files a path stands for: itself, or those of a folder. */
async function unfold(path: SourcePath): Promise<SourcePath[]> {
  const { endings } = path;
  if (!endings) return [path];
  try {
    const names = (await readdir(path.path)).filter((name) => endings.some((ending) => name.endsWith(ending)));
    return names
      .toSorted()
      .slice(0, MOST_FILES)
      .map((name) => ({ ...path, path: join(path.path, name), endings: undefined }));
  } catch (thrown) {
    if (isAbsent(thrown)) return [];
    throw thrown;
  }
}

/** A text that is plain JSON, read at once; `undefined` when it needs the parser that knows comments and places. */
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
  if (text.length <= LARGEST_OTHER) return parseData(text, path.path, path.format);
  throw new ToolscoutError('CONFIGURATION_ERROR', `is larger than ${LARGEST_OTHER} bytes`);
}

async function readOne(path: SourcePath): Promise<SourceFile | Problem | undefined> {
  try {
    const info = await stat(path.path);
    if (!info.isFile()) return problemAt(path.path, 'is no file');
    if (info.size > LARGEST_JSON) return problemAt(path.path, `is larger than ${LARGEST_JSON} bytes`);
    const data = await parse(await readFile(path.path, 'utf8'), path);
    if (isDeeperThan(data, LIMITS.depth)) return problemAt(path.path, `is nested deeper than ${LIMITS.depth} levels`);
    return { ...path, data };
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined;
    // The parser's message begins with the path, which stands beside it already.
    const message = messageOf(thrown);
    return problemAt(path.path, message.startsWith(path.path) ? message.slice(path.path.length + 1).trim() : message);
  }
}

/** Reads what exists of these files. One that cannot be read is a problem and hides none of the others. */
export async function readFiles(paths: readonly SourcePath[]): Promise<FilesRead> {
  const files: SourceFile[] = [];
  const problems: Problem[] = [];
  for (const path of paths) {
    try {
      for (const each of await unfold(path)) {
        const read = await readOne(each);
        if (read && 'data' in read) files.push(read);
        else if (read) problems.push(read);
      }
    } catch (thrown) {
      problems.push(problemAt(path.path, `cannot be read: ${messageOf(thrown)}`));
    }
  }
  return { files, problems };
}
