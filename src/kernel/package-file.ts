import { readFileSync } from 'node:fs';

/**
 * Where a file lies, seen from `dist/*.js`, and from `dist/chunks/*.js` or the source. The nearer place
 * comes first: the farther one, seen from `dist/*.js`, is outside the package.
 */
const PLACES: readonly string[] = ['../assets/', '../../assets/'];

/** A file in the folder `assets` of the package; `undefined` when it is not there. */
export function readAsset(name: string): Uint8Array | undefined {
  for (const place of PLACES) {
    try {
      return readFileSync(new URL(`${place}${name}`, import.meta.url));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
