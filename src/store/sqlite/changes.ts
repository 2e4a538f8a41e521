import type { Clock, Timer } from '../../kernel/clock.js';
import { createEmitter } from '../../kernel/async/emitter.js';
import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';

/** How long a change of another process may stay unseen. */
const POLL_MS = 500;

/** What the watch looks at. */
export interface ChangeSource {
  /** Differs when another connection has written since the last look; cheap. */
  stamp(): string;
  /** The version of every space that was ever written. */
  versions(): ReadonlyMap<string, number>;
}

/** Reports to listeners which spaces other processes changed. */
export interface ChangeWatch {
  on(listener: (space: string) => void): () => void;
  /** Notes a write of our own, so that it is not reported. */
  wrote(space: string, version: number): void;
  stop(): void;
}

/** A watch that polls only while it has a listener. */
export function createChangeWatch(source: ChangeSource, clock: Clock, log: Log): ChangeWatch {
  const emitter = createEmitter<string>((thrown) => log.error('store.listener-failed', { error: messageOf(thrown) }));
  const changed = new Set<string>();
  let listeners = 0;
  let known = new Map<string, number>();
  let stamp: string | undefined;
  let timer: Timer | undefined;

  const compare = (): void => {
    const current = source.stamp();
    if (current === stamp) return;
    const versions = source.versions();
    for (const space of new Set([...known.keys(), ...versions.keys()])) {
      if (known.get(space) !== versions.get(space)) changed.add(space);
    }
    known = new Map(versions);
    stamp = current;
  };
  const look = (report: boolean): void => {
    try {
      compare();
    } catch (thrown) {
      log.warn('store.poll-failed', { error: messageOf(thrown) });
    }
    const spaces = [...changed];
    changed.clear();
    if (report) for (const space of spaces) emitter.emit(space);
  };
  const schedule = (): void => {
    const own = clock.after(POLL_MS, () => {
      look(true);
      // A listener may have stopped the watch, or started it again.
      if (timer === own) schedule();
    });
    timer = own;
  };
  const stop = (): void => {
    timer?.cancel();
    timer = undefined;
  };

  return {
    on(listener) {
      if (listeners === 0) {
        // Own writes were not noted without a listener: start again from the current state.
        stamp = undefined;
        look(false);
        schedule();
      }
      listeners += 1;
      const off = emitter.on((space) => listener(space));
      let on = true;
      return () => {
        if (!on) return;
        on = false;
        off();
        listeners -= 1;
        if (listeners === 0) stop();
      };
    },
    wrote(space, version) {
      if (listeners === 0) return;
      // A gap means that another process wrote in between.
      if (version !== (known.get(space) ?? 0) + 1) changed.add(space);
      known.set(space, version);
    },
    stop,
  };
}
