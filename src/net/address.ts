import { BlockList, isIP } from 'node:net';

const V4_RANGES: ReadonlyArray<readonly [string, number]> = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Parts of {@link GLOBAL_UNICAST} that are not public. */
const V6_RANGES: ReadonlyArray<readonly [string, number]> = [
  // Teredo and 6to4 carry an IPv4 address inside; no server is published there.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** The only part of IPv6 that is given out to the public; everything else is internal, whatever it may become. */
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6');

const INTERNAL = new BlockList();
for (const [net, prefix] of V4_RANGES) INTERNAL.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of V6_RANGES) INTERNAL.addSubnet(net, prefix, 'ipv6');

/** The eight groups of an IPv6 address that is known to be valid. */
function groupsOf(address: string): number[] {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [a = 0, b = 0, c = 0, d = 0] = (dotted ?? []).slice(1).map(Number);
  const tail = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  const plain = dotted ? address.slice(0, dotted.index) + tail : address;
  const [head = '', rest] = plain.split('::');
  const read = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  const left = read(head);
  if (rest === undefined) return left;
  const right = read(rest);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

/** The IPv4 address that an IPv6 one stands for: mapped (`::ffff:…`) or translated (`64:ff9b::…`). */
function embeddedV4(address: string): string | undefined {
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const isTranslated = groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  if (!isMapped && !isTranslated) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * Whether an address is not global unicast: this machine, the local network, link-local (where clouds keep their
 * credentials), multicast, reserved. What is no address at all counts as internal, so that doubt refuses.
 */
export function isInternalAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '').replace(/^\[|\]$/g, '');
  const family = isIP(bare);
  if (family === 4) return INTERNAL.check(bare, 'ipv4');
  if (family !== 6) return true;
  const inner = embeddedV4(bare);
  if (inner !== undefined) return INTERNAL.check(inner, 'ipv4');
  return !GLOBAL_UNICAST.check(bare, 'ipv6') || INTERNAL.check(bare, 'ipv6');
}

/** Names that by convention never leave this machine or its network. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|localdomain|home\.arpa|lan|intranet)$/;

/** Whether a host, as a URL holds it, is internal by its very spelling; a name may still resolve to anything. */
export function isInternalHost(hostname: string): boolean {
  const bare = bareHost(hostname);
  return isIP(bare) === 0 ? LOCAL_NAME.test(bare) || !bare.includes('.') : isInternalAddress(bare);
}

/** A host without brackets and without the dot of its root, in lower case. */
export function bareHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}
