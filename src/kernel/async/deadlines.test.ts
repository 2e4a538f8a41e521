import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { createDeadlines } from './deadlines.js';

function waiting() {
  const clock = createFakeClock();
  const dues = new Map<string, number>();
  const ended: string[] = [];
  const deadlines = createDeadlines(clock, (now) => {
    for (const [name, due] of dues) {
      if (due > now) continue;
      dues.delete(name);
      ended.push(`${name} at ${now}`);
    }
    return Math.min(Infinity, ...dues.values());
  });
  const begin = (name: string, ms: number): void => {
    dues.set(name, clock.monotonic() + ms);
    deadlines.watch(clock.monotonic() + ms);
  };
  return { clock, dues, ended, deadlines, begin };
}

describe('createDeadlines', () => {
  it('EXEC-1 ends each at its own time, in whatever order they came', async () => {
    const { clock, ended, begin } = waiting();
    begin('late', 300);
    begin('soon', 100);
    await clock.advance(50);
    begin('between', 100);
    await clock.advance(49);
    expect(ended).toEqual([]);
    await clock.advance(1000);
    expect(ended).toEqual(['soon at 100', 'between at 150', 'late at 300']);
  });

  it('EXEC-1 keeps one timer for all, and none without a waiter', async () => {
    const { clock, dues, begin } = waiting();
    for (let i = 0; i < 50; i++) begin(`n${i}`, 1000 + i);
    expect(clock.waiting).toBe(1);
    dues.clear();
    await clock.advance(1000);
    expect(clock.waiting).toBe(0);
  });

  it('EXEC-1 fires for no waiter after it was stopped, and again for later ones', async () => {
    const { clock, ended, deadlines, begin } = waiting();
    begin('stopped', 100);
    deadlines.stop();
    await clock.advance(200);
    expect(ended).toEqual([]);
    begin('later', 50);
    await clock.advance(50);
    expect(ended).toEqual(['stopped at 250', 'later at 250']);
  });
});
