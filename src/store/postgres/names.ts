import { sha256 } from '../../kernel/hash.js';
import { fromName, toName } from '../stored-text.js';

/** An index holds no longer names. */
const LONGEST = 400;
const HASHED = 'sha256:';

/** A name as it stands in an index, and the whole of it where that differs. */
export interface IndexedName {
  readonly index: string;
  readonly whole: string | null;
}

/** Makes a name fit for an index: two names never share one. */
export function indexedName(name: string): IndexedName {
  const written = toName(name);
  if (written.length <= LONGEST && !written.startsWith(HASHED)) return { index: written, whole: null };
  return { index: HASHED + sha256(written), whole: written };
}

/** The name that was written, or `undefined` when it cannot be read back, or stands in the place of another one (A48). */
export function readName(index: unknown, whole: unknown): string | undefined {
  const name = fromName(whole ?? index);
  return name !== undefined && indexedName(name).index === index ? name : undefined;
}
