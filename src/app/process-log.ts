import { systemClock } from '../kernel/clock.js';
import { createLog, silentLog, type Log, type LogFields, type LogLevel } from '../kernel/log.js';
import type { SecretMask } from '../kernel/secrets.js';

/** How far the log may be behind: every call is a line, and to write one alone costs as much as to check a call. */
const BEHIND_MS = 20;

/** The log of a process on its stderr, without secrets. What waits to be written is written when the process ends. */
export function openProcessLog(
  process: Pick<NodeJS.Process, 'stderr' | 'once' | 'off'>,
  level: LogLevel,
  {
    mask,
    redact,
  }: { readonly mask: Pick<SecretMask, 'hideEncoded'>; readonly redact: (fields: LogFields) => LogFields },
): Log {
  if (level === 'silent') return silentLog;
  return createLog({
    level,
    now: systemClock.now,
    mask: (text) => mask.hideEncoded(text),
    redact,
    write: (lines) => process.stderr.write(lines),
    later(write) {
      process.once('exit', write);
      const task = (): void => {
        process.off('exit', write);
        write();
      };
      systemClock.after(BEHIND_MS, task, { awaited: true });
    },
  });
}
