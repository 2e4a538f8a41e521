import { describe, expect, it } from 'vitest';
import { hashJson, sha256 } from './hash.js';

describe('hash', () => {
  it('SEC-9 sha256 is the published function, in hex, over UTF-8', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256('ü')).not.toBe(sha256('u'));
  });

  it('A12 the hash of a value ignores the order of keys and notices one changed byte', () => {
    expect(hashJson({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(hashJson({ b: [{ d: 3, c: 2 }], a: 1 }));
    expect(hashJson({ a: 'x' })).not.toBe(hashJson({ a: 'y' }));
    expect(hashJson([1, 2])).not.toBe(hashJson([2, 1]));
    expect(hashJson(undefined)).toBe(hashJson(null));
  });
});
