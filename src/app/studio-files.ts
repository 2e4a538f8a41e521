import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StudioFiles } from '../front/http/routes/studio.js';

/** Where the built page can be, seen from this module: beside the bundle, beside its chunks, and in a checkout. */
const PLACES = ['./studio/', '../studio/', '../../dist/studio/'];

/** The folder that holds the built page; the last place when it was never built. */
export function studioFolder(
  places: readonly string[] = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))),
): string {
  return places.find((place) => existsSync(join(place, 'index.html'))) ?? places.at(-1)!;
}

/** A file name without a path; hidden files do not match. */
const FILE_NAME = /^\w[\w.-]{0,199}$/;

/** The files of the built page. They are read when they are asked for, so that a new build is served at once. */
export function createStudioFiles(folder: string = studioFolder()): StudioFiles {
  return {
    async read(name) {
      if (!FILE_NAME.test(name)) return undefined;
      try {
        return await readFile(join(folder, name));
      } catch (thrown) {
        const { code } = thrown as NodeJS.ErrnoException;
        if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined;
        throw thrown;
      }
    },
  };
}
