import { constants } from 'node:fs';
import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LabelFile } from '../gateway/index.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { isObject } from '../kernel/json.js';

/** Bytes of the file; a thousand times what people label. */
const MAX_BYTES = 8 * 1024 * 1024;

function failure(path: string, act: 'read' | 'written', thrown: unknown): ToolscoutError {
  if (thrown instanceof ToolscoutError) return thrown;
  const message = `The labelled queries in ${path} cannot be ${act}: ${messageOf(thrown)}`;
  return new ToolscoutError('STORE_ERROR', message, {
    cause: thrown,
    ...(act === 'read' && { suggestion: 'Check that this user can read the file.' }),
  });
}

function tooLarge(path: string): ToolscoutError {
  return new ToolscoutError('STORE_ERROR', `The labelled queries in ${path} are larger than ${MAX_BYTES} bytes.`, {
    suggestion: 'Move the file away; toolscout starts a new one.',
  });
}

function readLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // A line damaged by a manual edit; `toolscout eval` reports it.
    return undefined;
  }
}

/** Labelled queries in the state directory, in the format that `toolscout eval` reads (STUDIO-4). */
export function createLabelFile(directory: string): LabelFile {
  const path = join(directory, 'labels.jsonl');

  const sizeOf = async (): Promise<number> => {
    try {
      return (await stat(path)).size;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw thrown;
    }
  };

  return {
    path,
    async append(label) {
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        if ((await sizeOf()) > MAX_BYTES) throw tooLarge(path);
        // One write at the end: of two processes none writes into the line of the other. A link is not followed.
        const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
        const file = await open(path, flags, 0o600);
        try {
          await file.write(`${JSON.stringify(label)}\n`);
        } finally {
          await file.close();
        }
      } catch (thrown) {
        throw failure(path, 'written', thrown);
      }
    },

    async read() {
      try {
        if ((await sizeOf()) === 0) return [];
        const lines = (await readFile(path, 'utf8')).split('\n');
        return lines.map(readLine).flatMap((line) => {
          if (!isObject(line) || typeof line['query'] !== 'string' || !Array.isArray(line['relevant'])) return [];
          const relevant = line['relevant'].filter((each) => typeof each === 'string');
          return [{ id: typeof line['id'] === 'string' ? line['id'] : '', query: line['query'], relevant }];
        });
      } catch (thrown) {
        throw failure(path, 'read', thrown);
      }
    },
  };
}
