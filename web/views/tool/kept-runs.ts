import { onForget } from '../../app/resource.js';
import type { JsonObject } from '../../api/types.js';
import type { Draft } from '../../form/value.js';
import { createRun, type Run } from './run.js';

/** The call of one tool and the arguments in its form; both stay when another view is opened. */
export interface KeptRun {
  readonly run: Run;
  value: Draft;
  /** The arguments of the last call. */
  sent?: JsonObject;
}

/** Tools whose last call is kept; of more the oldest leaves, unless it runs. */
const MAX_KEPT = 20;

const kept = new Map<string, KeptRun>();

const isRunning = ({ run }: KeptRun): boolean => run.state.peek().step === 'running';

/** The last call of a tool in this tab. */
export function keptRun(address: string): KeptRun {
  const found = kept.get(address) ?? { run: createRun(), value: undefined };
  kept.delete(address);
  kept.set(address, found);
  for (const [old, each] of kept) {
    if (kept.size <= MAX_KEPT) break;
    if (old !== address && !isRunning(each)) kept.delete(old);
  }
  return found;
}

/** Whether a call runs that ends with the tab. */
export function isAnyRunning(): boolean {
  return [...kept.values()].some(isRunning);
}

/** Asks before the tab is closed or loaded again while a call runs: that would cancel it. */
export function guardRuns(): void {
  addEventListener('beforeunload', (event) => {
    if (isAnyRunning()) event.preventDefault();
  });
}

onForget(() => {
  for (const { run } of kept.values()) if (run.state.peek().step === 'running') run.cancel();
  kept.clear();
});
