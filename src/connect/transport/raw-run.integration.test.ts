import { describe, expect, it } from 'vitest';
import { stdioServer } from '../../../test/support/test-server.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { systemClock } from '../../kernel/clock.js';
import { LIMITS } from '../../kernel/limits.js';
import { silentLog } from '../../kernel/log.js';
import { createChildKeeper } from './child.js';
import { runRaw, type RawExchange } from './raw-run.js';

async function run(script: string, timeoutMs: number): Promise<RawExchange> {
  const children = createChildKeeper({ clock: systemClock, log: silentLog });
  const server = stdioServer('flood', { command: process.execPath, args: ['-e', script] });
  try {
    return await runRaw(server, { clock: systemClock, children, baseEnv: process.env }, { opening: ['x'], timeoutMs });
  } finally {
    await children.closeAll();
  }
}

describe('a program without a handshake', STARTS_PROCESSES, () => {
  it.each(['stdout', 'stderr'])('A44 that floods its %s is ended as soon as enough was heard', async (stream) => {
    const flood = `const more = () => process.${stream}.write('x'.repeat(65536) + '\\n', more); more();`;
    const { timedOut, exit, ...kept } = await run(flood, 600_000);
    expect([timedOut, exit]).toEqual([false, undefined]);
    expect(kept[stream as 'stdout'].length).toBeGreaterThanOrEqual(LIMITS.toolBytes * 8);
    expect(kept[stream as 'stdout'].length).toBeLessThan(LIMITS.toolBytes * 16);
  });

  it('DISC-6 is heard to its end where it prints less', async () => {
    const { timedOut, stdout } = await run(`process.stdout.write('a'.repeat(200_000) + 'end')`, 600_000);
    expect([timedOut, stdout.length, stdout.slice(-3)]).toEqual([false, 200_003, 'end']);
  });
});
