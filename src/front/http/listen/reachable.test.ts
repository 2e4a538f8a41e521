import { describe, expect, it } from 'vitest';
import { hostsOf, urlsOf } from './reachable.js';

const own = (wildcard: string): string[] => (wildcard === '0.0.0.0' ? ['192.0.2.7'] : ['192.0.2.7', '2001:db8::7']);

describe('where a listener is reached', () => {
  it('S1 one on every interface under the addresses of this machine, another under its own', () => {
    expect(hostsOf('0.0.0.0', own)).toEqual(['192.0.2.7']);
    expect(hostsOf('::', own)).toEqual(['192.0.2.7', '[2001:db8::7]']);
    expect(hostsOf('[::]', own)).toEqual(['192.0.2.7', '[2001:db8::7]']);
    expect(hostsOf('[::1]', own)).toEqual(['[::1]']);
    expect(hostsOf('tools.internal', own)).toEqual(['tools.internal']);
  });

  it('S1 the public address comes first, and none is an address that cannot be opened', () => {
    expect(urlsOf({ host: '0.0.0.0', port: 7077 }, own)).toEqual(['http://127.0.0.1:7077', 'http://192.0.2.7:7077']);
    expect(urlsOf({ host: '::1', port: 7077, publicUrl: 'https://tools.example.com//' }, own)).toEqual([
      'https://tools.example.com',
      'http://[::1]:7077',
    ]);
    const real = [...hostsOf('0.0.0.0'), ...hostsOf('::')];
    for (const host of real) expect(host).not.toMatch(/^(?:127\.|\[::1?\]|\[fe80)/i);
    for (const host of hostsOf('0.0.0.0')) expect(host).toMatch(/^[\d.]+$/);
  });
});
