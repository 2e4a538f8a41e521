import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import type { Audit } from '../audit/index.js';
import { silentLog } from '../kernel/log.js';
import { createRetention } from './retention.js';

describe('retention', () => {
  it('EXEC-5 deletes old records now and every day, logs a failure, and stops', async () => {
    const clock = createFakeClock();
    const pruned: number[] = [];
    const errors: unknown[] = [];
    let keep = 90;
    const audit = {
      prune: (ms: number) => (
        pruned.push(ms),
        pruned.length === 2 ? Promise.reject(new Error('disk of key-1')) : Promise.resolve(0)
      ),
    } as unknown as Audit;
    const log = { ...silentLog, error: (_name: string, fields?: object) => void errors.push(fields) };
    const retention = createRetention({
      audit,
      clock,
      log,
      hide: (text) => text.replace('key-1', '***'),
      retentionMs: () => keep,
    });
    retention.prune();
    expect(pruned).toEqual([90]);
    keep = 30;
    await clock.advance(86_400_000);
    expect(pruned).toEqual([90, 30]);
    await expect.poll(() => errors).toEqual([{ error: 'disk of ***' }]);
    retention.stop();
    await clock.advance(2 * 86_400_000);
    retention.prune();
    expect(pruned).toHaveLength(2);
  });
});
