import { sha256 } from '../../../kernel/hash.js';

/** Some hosts cut names above 63 characters, after they put a prefix such as `mcp__toolscout__` before ours. */
const MAX_LENGTH = 47;
const SEPARATOR = '__';
const DIGEST = 12;

/** Letters that every host and model accepts in the name of a tool. */
const PLAIN = /^[A-Za-z0-9_-]+$/;
/** What a shortened name ends with, and no other does. */
const SHORTENED = /__[0-9a-f]{12}$/;

/** Whether a name can be taken apart again at its first separator, and at no other place. */
function isReversible(server: string, name: string): boolean {
  return (
    PLAIN.test(server) &&
    PLAIN.test(name) &&
    !server.includes(SEPARATOR) &&
    !server.endsWith('_') &&
    !name.startsWith('_')
  );
}

/**
 * The name under which a host sees a tool or a prompt of a server: `server__tool`. It depends only on the two, so it is
 * the same for every host and at all times. Where the plain form would be too long, use other letters or could also
 * mean another pair, its end is a digest of both; so no two share a name (A13).
 */
export function exposedName(server: string, name: string): string {
  const plain = `${server}${SEPARATOR}${name}`;
  if (plain.length <= MAX_LENGTH && isReversible(server, name) && !SHORTENED.test(plain)) return plain;
  const digest = sha256(`${server.length}:${server}${name}`).slice(0, DIGEST);
  const readable = plain.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_LENGTH - SEPARATOR.length - DIGEST);
  return `${readable}${SEPARATOR}${digest}`;
}

/** The pair a name stands for, where the name itself says it; `undefined` for a shortened one. */
export function readName(exposed: string): { readonly server: string; readonly name: string } | undefined {
  const at = exposed.indexOf(SEPARATOR);
  if (at <= 0 || SHORTENED.test(exposed)) return undefined;
  const server = exposed.slice(0, at);
  const name = exposed.slice(at + SEPARATOR.length);
  return exposedName(server, name) === exposed ? { server, name } : undefined;
}

const SCHEME = 'toolscout://';

/** The URI under which a host sees a resource (or a template) of a server: the server's own stands in it unchanged. */
export function exposedUri(server: string, uri: string): string {
  return `${SCHEME}${encodeURIComponent(server)}/${uri}`;
}

/** The server and its own URI; `undefined` when it is not one of ours. */
export function readUri(exposed: string): { readonly server: string; readonly uri: string } | undefined {
  if (!exposed.startsWith(SCHEME)) return undefined;
  const slash = exposed.indexOf('/', SCHEME.length);
  if (slash === -1) return undefined;
  try {
    return { server: decodeURIComponent(exposed.slice(SCHEME.length, slash)), uri: exposed.slice(slash + 1) };
  } catch {
    // A stray percent sign: no URI that was ever given out.
    return undefined;
  }
}
