import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A program that tests of one file start again and again, in one file of JavaScript: compiling the TypeScript for each start would
 * take longer than what the program does. It is removed after the last test.
 */
export async function bundled(input: string): Promise<string> {
  // Packages are found from where the bundle lies.
  const folder = join(ROOT, 'node_modules', '.cache', 'toolscout', `bundle-${process.pid}-${performance.now()}`);
  await mkdir(join(folder, 'dist'), { recursive: true });
  // The program finds the files of the package beside its folder, as in the package.
  await symlink(join(ROOT, 'assets'), join(folder, 'assets'));
  const bundle = await rolldown({ input, platform: 'node', external: /^(?![./]|[A-Za-z]:)/ });
  const file = join(folder, 'dist', 'bundle.mjs');
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return file;
}
