import { describe, expect, it } from 'vitest';
import { cooperatively, inSlices } from './cooperative.js';

describe('cooperatively', () => {
  it('FIND-3 works on every item in order, and others have their turn in between', async () => {
    const done: number[] = [];
    const seen: number[] = [];
    let running = true;
    const watch = (): void => {
      seen.push(done.length);
      if (running) setImmediate(watch);
    };
    setImmediate(watch);
    const items = Array.from({ length: 100 }, (_, i) => i);
    await cooperatively(items, (item) => done.push(item));
    running = false;
    expect(done).toEqual(items);
    expect(new Set(seen).size).toBeGreaterThanOrEqual(5);
  });

  it('FIND-3 takes items one at a time, as they are made', async () => {
    let made = 0;
    let most = 0;
    function* make(): Generator<number> {
      for (; made < 50;) yield ++made;
    }
    await cooperatively(make(), (item) => {
      most = Math.max(most, made - item);
    });
    expect([made, most]).toEqual([50, 0]);
  });
});

describe('inSlices', () => {
  it('FIND-3 repeats a step until nothing is left, and others have their turn before each', async () => {
    const seen: string[] = [];
    let left = 3;
    const done = inSlices(() => {
      seen.push(`step ${left}`);
      return --left > 0;
    });
    setImmediate(() => seen.push('other'));
    await done;
    expect(seen).toEqual(['step 3', 'other', 'step 2', 'step 1']);
  });
});
