import { describe, expect, it } from 'vitest';
import { bareHost, isInternalAddress, isInternalHost } from './address.js';

describe('addresses that are not public', () => {
  // First and last of each range, and their neighbours that are public (IANA special-purpose registries).
  it.each([
    ['0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
    ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
    ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
    ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
    ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
    ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
    ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
    ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
    ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
    ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
    ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
    ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
    ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
    ['224.0.0.0', '239.255.255.255', '223.255.255.255', undefined],
    ['240.0.0.0', '255.255.255.255', undefined, undefined],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff::', '2001:200::'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::', '2003::'],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff::', '3fff:1000::'],
    ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', undefined],
    ['::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', undefined, '2000::'],
  ])('A19 from %s to %s, and not beyond', (first, last, before, after) => {
    expect([first, last].map(isInternalAddress)).toEqual([true, true]);
    for (const neighbour of [before, after]) {
      if (neighbour !== undefined) expect(isInternalAddress(neighbour), neighbour).toBe(false);
    }
  });

  // An IPv6 address that carries an IPv4 one is judged by it, in every spelling.
  it.each([
    ['::ffff:10.1.2.3', true],
    ['::ffff:8.8.8.8', false],
    ['0:0:0:0:0:ffff:192.168.1.1', true],
    ['0:0:0:0:0:ffff:0808:0808', false],
    ['::ffff:a9fe:a9fe', true],
    ['::ffff:1.2.3.4', false],
    ['::ffff:192.0.1.7', false],
    ['::ffff:192.0.2.7', true],
    ['64:ff9b::127.0.0.1', true],
    ['64:ff9b::8.8.8.8', false],
    ['64:ff9b::808:808', false],
    ['64:ff9b::a00:1', true],
    // One group away from the forms that carry an address: internal, since they are not global unicast.
    ['64:ff9b:1::8.8.8.8', true],
    ['64:ff9b:0:0:0:1:8.8.8.8', true],
    ['64:ff9c::8.8.8.8', true],
    ['65:ff9b::8.8.8.8', true],
    ['1::ffff:8.8.8.8', true],
    ['0:0:0:0:1:ffff:8.8.8.8', true],
    ['::fffe:8.8.8.8', true],
    ['::8.8.8.8', true],
    // A global address whose end looks like an IPv4 one is itself.
    ['2606:4700::ffff:10.0.0.1', false],
  ])('A19 %s is internal: %s', (address, isInternal) => {
    expect(isInternalAddress(address)).toBe(isInternal);
  });

  it.each([
    ['[::1]', true],
    ['[2606:4700::1111]', false],
    ['fe80::1%eth0', true],
    ['2606:4700::1111%eth0', false],
    ['', true],
    ['8.8.8', true],
    ['example.com', true],
    ['8.8.8.8:80', true],
    ['[8.8.8.8', false],
    ['2606:4700::1]11', true],
  ])('A19 doubt refuses: %j is internal: %s', (address, isInternal) => {
    expect(isInternalAddress(address)).toBe(isInternal);
  });
});

describe('hosts that are internal by their spelling', () => {
  it.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'api.localhost',
    'printer.local',
    'metadata.google.internal',
    'host.localdomain',
    'router.home.arpa',
    'nas.lan',
    'wiki.intranet',
    'intranet',
    'server',
    '127.0.0.1',
    '[::1]',
    '[FD00::1]',
  ])('A19 %s is', (host) => {
    expect(isInternalHost(host)).toBe(true);
  });

  it.each([
    'example.com',
    'example.com.',
    'local.example.com',
    'mylocal.dev',
    'homexarpa.org',
    '8.8.8.8',
    '[2606:4700::1111]',
  ])('A19 %s is not', (host) => {
    expect(isInternalHost(host)).toBe(false);
  });

  it('A19 a host is compared without brackets, without the dot of its root and in lower case', () => {
    expect(['[FE80::1]', 'Example.COM.', 'a..', 'x]y', 'x[y', '.a'].map(bareHost)).toEqual([
      'fe80::1',
      'example.com',
      'a.',
      'x]y',
      'x[y',
      '.a',
    ]);
  });
});
