import { isIP } from 'node:net';
import { leadsOutside } from './dial.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import { toRemedy, type Remedy } from '../kernel/remedy.js';

/** Finds the addresses of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** What to do where a URL leads inside this network. */
export const CONFIGURE_IT = {
  kind: 'configure',
  what: 'Add the server to the config; only servers of the config may be inside this network.',
} as const;

function refuse(message: string, remedy: Remedy = CONFIGURE_IT): ToolscoutError {
  return new ToolscoutError('FORBIDDEN', message, {
    remedy,
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
      'The url is not valid. Expected a URL such as https://example.com/mcp.',
    );
  const url = new URL(text);
  if (url.protocol !== 'https:') {
    throw refuse(
      'A server that is not approved is asked over https only.',
      toRemedy('Send a URL that begins with https://.'),
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('A URL with credentials is not allowed.', toRemedy('Remove user and password from the URL.'));
  }
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
      suggestion: 'Check the host name in the URL.',
      delivered: false,
      cause: thrown,
    });
  }
}
