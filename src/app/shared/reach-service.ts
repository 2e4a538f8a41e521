import { closeSync, constants, ftruncateSync, fstatSync } from 'node:fs';
import { sleep, type Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { CHILD_VARIABLE } from '../../protocol/child-mark.js';
import { dial, type Dialled } from './dial.js';
import type { Wish } from './hello.js';
import { openPrivate, preparePlace, type SharedPlace } from './place.js';
import { tryLock } from './start-lock.js';

/** How a service is started. */
export interface ServiceCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A service that does not listen by then is given up. */
const PATIENCE_MS = 30_000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 200;

/** A larger log is started again with the next service. */
const MAX_LOG_BYTES = 1024 * 1024;

interface Started {
  /** How it ended, once it has. */
  readonly failure: () => string | undefined;
}

/** Starts a service that outlives this process. */
async function start(place: SharedPlace, { command, args, cwd, env }: ServiceCommand): Promise<Started> {
  // Loaded only here, and where that is possible without the loader of ES modules: most forwarders find a service, and all stay smaller.
  const { spawn } = process.getBuiltinModule?.('node:child_process') ?? (await import('node:child_process'));
  const log = openPrivate(place.log, constants.O_CREAT | constants.O_APPEND);
  if (fstatSync(log).size > MAX_LOG_BYTES) ftruncateSync(log);
  let failure: string | undefined;
  // The service outlives the process that starts it, and a toolscout that started that process.
  const { [CHILD_VARIABLE]: _mark, ...own } = env;
  try {
    const child = spawn(command, args, {
      cwd,
      env: own,
      detached: true,
      stdio: ['ignore', 'ignore', log],
      windowsHide: true,
    });
    child.once('error', (error) => (failure = error.message));
    child.once(
      'exit',
      (code, signal) => (failure = `it ended with ${signal ?? `exit code ${code}`}; see ${place.log}`),
    );
    child.unref();
  } finally {
    closeSync(log);
  }
  return { failure: () => failure };
}

/**
 * Connects to the service of a place, and starts it when it does not run; of several processes that do so at once, one
 * starts it.
 *
 * @throws ToolscoutError when it cannot be started or refuses the wish.
 */
export async function reachService(
  place: SharedPlace,
  wish: Wish,
  deps: { readonly clock: Clock; readonly service: ServiceCommand },
): Promise<Dialled> {
  const { clock } = deps;
  preparePlace(place);
  const deadline = clock.monotonic() + PATIENCE_MS;
  let release: (() => void) | undefined;
  let started: Started | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  try {
    for (;;) {
      const dialled = await dial(place, wish, clock);
      if (dialled) return dialled;
      const failure = started?.failure();
      if (failure !== undefined) throw unreachable(failure);
      if (clock.monotonic() > deadline)
        throw unreachable(`it did not answer within ${PATIENCE_MS / 1000} s; see ${place.log}`);
      if (!release) {
        release = tryLock(place.lock, clock);
        // Another process may have started it between the last look and the lock.
        if (release) continue;
      } else started ??= await start(place, deps.service);
      await sleep(clock, pauseMs);
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.5);
    }
  } finally {
    release?.();
  }
}

function unreachable(why: string): ToolscoutError {
  return new ToolscoutError('SERVER_CONNECTION_ERROR', `The shared service cannot be used: ${why}.`, {
    suggestion: 'Run toolscout service status, then toolscout service stop; or start toolscout without --shared.',
  });
}
