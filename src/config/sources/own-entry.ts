import type { ServerEntry } from '../../model/config.js';
import type { Place } from './importer.js';

/** The name toolscout gives itself in the files of clients. */
export const OWN_NAME = 'toolscout';

/** Where it listens unless told otherwise. */
const USUAL_PORT = '7077';

function isOwnUrl(text: string, place: Place): boolean {
  if (!URL.canParse(text)) return false;
  const { href, hostname, port, pathname } = new URL(text);
  if (place.self?.urls?.some((url) => new URL(url).href === href)) return true;
  const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname);
  return isLocal && port === USUAL_PORT && /^\/mcp\/?$/.test(pathname);
}

/** `toolscout`, `toolscout@1.2.3`, `/usr/bin/toolscout`, `…\toolscout.cmd`. */
function isOwnProgram(word: string): boolean {
  const base = word.split(/[\\/]/).at(-1) ?? '';
  return /^toolscout(@[\w.^~-]*|\.(?:cmd|exe|ps1|js|mjs))?$/i.test(base);
}

/** `/anywhere/toolscout/dist/cli.js`, and the same from source. */
function isOwnScript(word: string): boolean {
  const parts = word.toLowerCase().split(/[\\/]/);
  return parts.includes(OWN_NAME) && /^(dist\/cli\.m?js|src\/bin\.ts)$/.test(parts.slice(-2).join('/'));
}

/**
 * Whether an entry starts or reaches toolscout itself, also through a shell, a runner or a bridge. Importing it
 * would make toolscout a server of its own, each starting the next.
 */
export function isOwnEntry(entry: ServerEntry, place: Place): boolean {
  const words = [entry.command ?? '', ...(entry.args ?? [])].flatMap((text) => [text, ...text.split(/\s+/)]);
  const script = place.self?.script;
  return (
    isOwnUrl(entry.url ?? '', place) ||
    words.some((word) => word !== '' && (word === script || isOwnScript(word) || isOwnUrl(word, place))) ||
    (words.some(isOwnProgram) && words.includes('serve'))
  );
}
