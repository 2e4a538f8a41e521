import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { createRelister } from './relister.js';

function setUp() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const relister = createRelister({ clock, isLearning: () => false, relist: async (server) => asked.push(server) > 0 });
  return { clock, asked, relister };
}

describe('createRelister', () => {
  it('DISC-4 many announcements are one question, and the next ones another', async () => {
    const { clock, asked, relister } = setUp();
    relister.soon('a');
    relister.soon('a');
    await clock.advance(250);
    expect(asked).toEqual(['a']);
    relister.soon('a');
    await clock.advance(250);
    expect(asked).toEqual(['a', 'a']);
  });

  it('DISC-4 a server whose list is always old is asked once a minute, however often it is called', async () => {
    const { clock, asked, relister } = setUp();
    for (let second = 0; second < 120; second++) {
      relister.whenRested('a');
      await clock.advance(1000);
    }
    expect(asked).toEqual(['a', 'a']);
    // What it announces is heard at once all the same.
    relister.soon('a');
    await clock.advance(250);
    expect(asked).toHaveLength(3);
  });

  it('DISC-4 a server that announces a change after every list is asked less and less often, until it stops', async () => {
    const clock = createFakeClock();
    let asked = 0;
    let isLoud = true;
    const relister = createRelister({
      clock,
      isLearning: () => false,
      async relist(server) {
        asked += 1;
        if (isLoud) relister.soon(server);
        return true;
      },
    });
    relister.soon('a');
    for (let at = 0; at < 8; at++) await clock.advance(250);
    expect(asked).toBe(8);
    for (let second = 0; second < 600; second++) await clock.advance(1000);
    expect(asked).toBeLessThan(30);
    isLoud = false;
    await clock.advance(60_000);
    await clock.advance(1000);
    const before = asked;
    relister.soon('a');
    await clock.advance(250);
    expect(asked).toBe(before + 1);
  });

  it('DISC-4 nothing is asked after the end', async () => {
    const { clock, asked, relister } = setUp();
    relister.whenRested('a');
    relister.close();
    await clock.advance(1000);
    expect(asked).toEqual([]);
  });
});
