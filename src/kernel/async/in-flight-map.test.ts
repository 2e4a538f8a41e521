import { describe, expect, it } from 'vitest';
import { InFlightMap } from './in-flight-map.js';

describe('what comes and goes', () => {
  it('EXEC-4 is found until it is taken, and taken once', () => {
    const transit = new InFlightMap<number, { name: string }>();
    transit.set(1, { name: 'one' });
    transit.set(2, { name: 'two' });
    expect(transit.get(1)).toEqual({ name: 'one' });
    expect(transit.take(1)).toEqual({ name: 'one' });
    expect([transit.take(1), transit.get(1), transit.get(3)]).toEqual([undefined, undefined, undefined]);
    transit.set(2, { name: 'another two' });
    expect([...transit]).toEqual([[2, { name: 'another two' }]]);
  });

  it('EXEC-4 one that comes alone is like all others: it is replaced, taken, and older than what follows', () => {
    const transit = new InFlightMap<string, { name: string }>();
    expect([transit.isEmpty, transit.take('a'), [...transit]]).toEqual([true, undefined, []]);
    transit.set('a', { name: 'one' });
    transit.set('a', { name: 'another one' });
    transit.set('b', { name: 'two' });
    expect([...transit].map(([, { name }]) => name)).toEqual(['another one', 'two']);
    expect(transit.take('a')).toEqual({ name: 'another one' });
    // Those that came later are still there, so it is younger than they are.
    transit.set('a', { name: 'three' });
    expect([...transit].map(([, { name }]) => name)).toEqual(['two', 'three']);
    expect([transit.take('b'), transit.take('a'), transit.isEmpty]).toEqual([{ name: 'two' }, { name: 'three' }, true]);
  });

  it('EXEC-4 is walked through in order while it goes', () => {
    const transit = new InFlightMap<number, { name: string }>();
    for (let i = 0; i < 100; i++) transit.set(i, { name: String(i) });
    const seen: number[] = [];
    for (const [key] of transit) {
      seen.push(key);
      transit.take(key);
      transit.take(key + 1);
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => 2 * i));
    expect([...transit]).toEqual([]);
  });
});
