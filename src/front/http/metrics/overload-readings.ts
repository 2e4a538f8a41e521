import type { OverloadStatus } from '../../../gateway/index.js';
import type { Reading, Sample } from './prometheus.js';

const one = (value: number): Sample[] => [{ value }];

/** How much there is to do, and what was refused for that reason (R12). */
export function overloadReadings({ level, calls, waiting, memoryShare, delayMs, shed }: OverloadStatus): Reading[] {
  const refused = Object.entries(shed).map(([reason, value]) => ({ labels: { reason }, value }));
  return [
    ['toolscout_shed_total', 'Calls that were refused because of overload, by reason.', refused, 'counter'],
    ['toolscout_overloaded', 'Whether new calls are refused or wait: 1, or 0.', one(level === 'calm' ? 0 : 1)],
    ['toolscout_calls_running', 'Calls that run.', one(calls)],
    ['toolscout_calls_waiting', 'Calls that wait to be admitted.', one(waiting)],
    ['toolscout_memory_share', 'Used share of the memory that the process may have.', one(memoryShare)],
    ['toolscout_delay_seconds', 'By how much the event loop is late, as admission sees it.', one(delayMs / 1000)],
  ];
}
