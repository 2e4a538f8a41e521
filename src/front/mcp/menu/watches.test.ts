import { describe, expect, it } from 'vitest';
import { Watches } from './watches.js';

/** A resource whose watch begins when the test says so. */
function resource() {
  const log: string[] = [];
  let begin!: () => void;
  let fail!: (error: Error) => void;
  const watch = (): Promise<() => void> => {
    log.push('asked');
    return new Promise((resolve, reject) => {
      begin = () => resolve(() => void log.push('stopped'));
      fail = reject;
    });
  };
  return { log, watch, begin: () => begin(), fail: (error: Error) => fail(error) };
}

describe('the resources that a host watches', () => {
  it('META-6 one that is subscribed to twice at once is watched once, and ended once', async () => {
    const { log, watch, begin } = resource();
    const watches = new Watches();
    const both = Promise.all([watches.begin('a:b', watch), watches.begin('a:b', watch)]);
    begin();
    await both;
    watches.end('a:b');
    watches.end('a:b');
    await expect.poll(() => log).toEqual(['asked', 'stopped']);
  });

  it('META-6 a host that goes while a watch is being begun leaves none behind', async () => {
    const { log, watch, begin } = resource();
    const watches = new Watches();
    const begun = watches.begin('a:b', watch);
    watches.close();
    begin();
    await begun;
    await expect.poll(() => log).toEqual(['asked', 'stopped']);
  });

  it('META-6 one that could not be watched can be asked for again', async () => {
    const { log, watch, begin, fail } = resource();
    const watches = new Watches();
    const refused = watches.begin('a:b', watch);
    fail(new Error('no such resource'));
    await expect(refused).rejects.toThrow('no such resource');
    const begun = watches.begin('a:b', watch);
    begin();
    await begun;
    watches.close();
    await expect.poll(() => log).toEqual(['asked', 'asked', 'stopped']);
  });

  it('META-6 one that was ended while it was refused rejects for whoever asked, and nowhere else', async () => {
    const { watch, fail } = resource();
    const watches = new Watches();
    const refused = watches.begin('a:b', watch);
    watches.end('a:b');
    fail(new Error('no such resource'));
    await expect(refused).rejects.toThrow('no such resource');
  });
});
