import { rename, rm, writeFile } from 'node:fs/promises';
import { messageOf, ToolscoutError } from '../kernel/errors.js';

/** Replaces a file as a whole: a crash leaves the old one or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(next, text, { flag: 'wx' });
    await rename(next, path);
  } catch (thrown) {
    await rm(next, { force: true });
    throw new ToolscoutError('CONFIGURATION_ERROR', `Cannot write ${path}: ${messageOf(thrown)}`, {
      suggestion: 'Check that the folder exists and is writable.',
      cause: thrown,
    });
  }
}
