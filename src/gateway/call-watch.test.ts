import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { createAudit, type Audit } from '../audit/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { createLog } from '../kernel/log.js';
import type { Viewer } from '../model/viewer.js';
import { createMemoryStore } from '../store/memory.js';
import { createCallWatch } from './call-watch.js';
import { LOCAL_VIEWER } from './viewer.js';

const called = (server: string): Parameters<Audit['record']>[0] => ({
  kind: 'execution',
  principal: 'local',
  server,
  tool: 'echo',
  outcome: 'success',
});

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore({ clock });
  const lines: string[] = [];
  const log = createLog({ level: 'debug', now: clock.now, write: (line) => void lines.push(line) });
  const open = () => createAudit({ store, clock, log, redact: (value) => value });
  const [audit, other] = [open(), open()];
  const trouble: { failing: boolean; asked: number; onAsked?: (() => void) | undefined } = { failing: false, asked: 0 };
  const query: typeof audit.query = async (filter) => {
    trouble.asked += 1;
    trouble.onAsked?.();
    if (trouble.failing) throw new ToolscoutError('STORE_ERROR', 'the disk is gone');
    return audit.query(filter);
  };
  return { audit, other, clock, lines, trouble, watch: createCallWatch({ audit: { query }, clock, log }) };
}

describe('calls that are followed', () => {
  it('STUDIO-1 many calls are told once a second, those of other processes too, and nothing else is', async () => {
    const { audit, other, clock, watch } = setUp();
    audit.record(called('before'));
    await clock.advance(5000);
    const told: Array<readonly string[]> = [];
    const stop = watch.follow(LOCAL_VIEWER, (servers) => told.push(servers));
    await clock.advance(3000);
    expect(told).toEqual([]);
    for (let turn = 0; turn < 600; turn++) audit.record(called('one'));
    await clock.advance(1000);
    expect(told).toEqual([['one']]);
    other.record(called('two'));
    audit.record({ ...called('three'), kind: 'search' });
    await clock.advance(2000);
    expect(told).toEqual([['one'], ['two']]);
    stop();
    audit.record(called('one'));
    await clock.advance(5000);
    expect(told).toHaveLength(2);
  });

  it('STUDIO-1 S12 who sees some servers hears of these alone', async () => {
    const { audit, clock, watch } = setUp();
    const told: Array<readonly string[]> = [];
    const limited: Viewer = { ...LOCAL_VIEWER, isLimited: true, sees: (server) => server === 'mine' };
    watch.follow(limited, (servers) => told.push(servers));
    await clock.advance(0);
    audit.record(called('other'));
    await clock.advance(2000);
    expect(told).toEqual([]);
    audit.record(called('other'));
    audit.record(called('mine'));
    await clock.advance(2000);
    expect(told).toEqual([['mine']]);
  });

  it('STUDIO-1 R7 without listeners it costs nothing, and many listeners cost as much as one', async () => {
    const { clock, trouble, watch } = setUp();
    await clock.advance(5000);
    expect([trouble.asked, clock.waiting]).toEqual([0, 0]);
    const stops = Array.from({ length: 50 }, () => watch.follow(LOCAL_VIEWER, () => undefined));
    await clock.advance(10_500);
    expect(trouble.asked).toBe(11);
    // The last one goes and another comes while the log is being read: still one reader.
    for (const stop of stops) stop();
    stops.forEach((stop) => stop());
    expect(clock.waiting).toBe(0);
    watch.follow(LOCAL_VIEWER, () => undefined);
    await clock.advance(0);
    expect([trouble.asked, clock.waiting]).toEqual([12, 1]);
  });

  it('STUDIO-1 R7 a listener that is added while the log is read for a removed one is served by the same reader', async () => {
    const { audit, clock, trouble, watch } = setUp();
    const told: string[] = [];
    const stop = watch.follow(LOCAL_VIEWER, () => told.push('first'));
    await clock.advance(0);
    audit.record(called('one'));
    // The reader begins with the next second; before it has its answer all listeners change.
    const advancing = clock.advance(1000);
    trouble.onAsked = () => {
      stop();
      watch.follow(LOCAL_VIEWER, () => told.push('second'));
      trouble.onAsked = undefined;
    };
    await advancing;
    await clock.advance(1000);
    expect([told, clock.waiting]).toEqual([['second'], 1]);
  });

  it('STUDIO-1 R7 the reader rests when the last one goes while it reads', async () => {
    const { clock, trouble, watch } = setUp();
    const stop = watch.follow(LOCAL_VIEWER, () => undefined);
    trouble.onAsked = stop;
    await clock.advance(5000);
    expect([trouble.asked, clock.waiting]).toEqual([1, 0]);
  });

  it('STUDIO-1 R7 a log that cannot be read is said once, and is read again', async () => {
    const { audit, clock, lines, trouble, watch } = setUp();
    const told: Array<readonly string[]> = [];
    watch.follow(LOCAL_VIEWER, (servers) => told.push(servers));
    await clock.advance(0);
    trouble.failing = true;
    audit.record(called('one'));
    await clock.advance(5000);
    expect([told, lines.filter((line) => line.includes('calls.follow-failed')).length]).toEqual([[], 1]);
    trouble.failing = false;
    await clock.advance(1000);
    expect(told).toEqual([['one']]);
  });
});
