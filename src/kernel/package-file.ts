import { readFileSync } from 'node:fs';
import { ToolscoutError } from './errors.js';

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

/** A file in the folder `assets` without which toolscout does not work: a package that lacks it is damaged. */
export function requireAsset(name: string): Uint8Array {
  const bytes = readAsset(name);
  if (!bytes) throw brokenAsset(name, 'missing');
  return bytes;
}

/** The error of a file in the folder `assets` that cannot be used, with what is wrong with it. */
export function brokenAsset(name: string, state: string, cause?: unknown): ToolscoutError {
  return new ToolscoutError('INTERNAL_ERROR', `The file assets/${name} of toolscout is ${state}.`, {
    suggestion: 'Install toolscout again.',
    cause,
  });
}
