import { isIP } from 'node:net';
import { leadsOutside } from './dial.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';

/** Finds the addresses of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** What to do where a URL leads inside this network. */
export const CONFIGURE_IT = {
  kind: 'configure',
  what: 'Write the server into the config yourself when you trust it.',
} as const;

function refuse(message: string): ToolscoutError {
  return new ToolscoutError('FORBIDDEN', message, {
    remedy: CONFIGURE_IT,
    delivered: false,
  });
}

/**
 * Lets only a URL pass that leads to the public network: a URL that a caller names must not make
 * toolscout ask what only this machine can reach.
 */
export async function requirePublic(text: string, lookup: Lookup): Promise<URL> {
  if (!URL.canParse(text))
    throw new ToolscoutError(
      'INVALID_REQUEST',
      'url is not a valid URL; expected one such as https://example.com/mcp.',
    );
  const url = new URL(text);
  if (url.protocol !== 'https:') throw refuse('Introspection needs an https URL.');
  if (url.username !== '' || url.password !== '') throw refuse('A URL with credentials is not allowed.');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) ? [host] : await lookupOrFail(host, lookup);
  if (!leadsOutside(addresses)) {
    throw refuse(`${host} is not on the public network.`);
  }
  return url;
}

async function lookupOrFail(host: string, lookup: Lookup): Promise<readonly string[]> {
  try {
    return await lookup(host);
  } catch (thrown) {
    throw new ToolscoutError('SERVER_CONNECTION_ERROR', `${host} cannot be found: ${messageOf(thrown)}`, {
      delivered: false,
      cause: thrown,
    });
  }
}
