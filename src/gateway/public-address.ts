import { BlockList, isIP } from 'node:net';
import { messageOf, ToolscoutError } from '../kernel/errors.js';

/** Finds the addresses of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Addresses that only this machine or its network can reach, cloud metadata among them. */
const PRIVATE = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(net, prefix, 'ipv4');
}
for (const [net, prefix] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['100::', 64],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['2002::', 16],
] as const) {
  PRIVATE.addSubnet(net, prefix, 'ipv6');
}

function isPrivate(address: string): boolean {
  const kind = isIP(address);
  return kind === 0 || PRIVATE.check(address, kind === 6 ? 'ipv6' : 'ipv4');
}

function refuse(message: string): ToolscoutError {
  return new ToolscoutError('FORBIDDEN', message, {
    suggestion: 'Configure the server yourself when you trust it.',
    delivered: false,
  });
}

/**
 * Lets only a URL pass that leads to the public network: a URL that a caller names must not make
 * toolscout ask what only this machine can reach.
 */
export async function requirePublic(text: string, lookup: Lookup): Promise<URL> {
  if (!URL.canParse(text)) throw new ToolscoutError('INVALID_REQUEST', 'The url is not a URL.');
  const url = new URL(text);
  if (url.protocol !== 'https:') throw refuse('Only https URLs can be asked for their tools.');
  if (url.username !== '' || url.password !== '') throw refuse('A URL with a password in it is not asked.');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) ? [host] : await lookupOrFail(host, lookup);
  // Every one of them: which one will be used is not ours to choose.
  if (addresses.length === 0 || addresses.some(isPrivate)) {
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
