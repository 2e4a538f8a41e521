import { spawn, type ChildProcess } from 'node:child_process';
import type { Clock } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';

/**
 * The whole watchdog program. It is born knowing the groups in its arguments, so that there is no
 * moment without them, and learns of others as `+pgid` and `-pgid` lines, and of its patience as `=ms`; when its stdin ends,
 * toolscout is gone, however it died, and what is left of the groups is ended. Ids below 2 are
 * refused: `kill(-1)` would reach every process of the user.
 */
const SOURCE = `
const groups = new Set(process.argv.slice(1).map(Number));
let rest = '';
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
const signalAll = (signal) => {
  for (const group of groups) {
    try { process.kill(-group, signal); } catch { groups.delete(group); }
  }
  if (groups.size === 0) process.exit(0);
};
let killAfterMs = 1000;
const finish = () => {
  signalAll('SIGTERM');
  setInterval(() => signalAll(0), 50);
  setTimeout(() => { signalAll('SIGKILL'); process.exit(0); }, killAfterMs);
};
process.stdin.setEncoding('latin1');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const group = Number(line.slice(1));
    if (line[0] === '=') killAfterMs = group;
    else if (!Number.isInteger(group) || group < 2) continue;
    else if (line[0] === '+') groups.add(group); else groups.delete(group);
  }
});
process.stdin.on('end', finish);
process.stdin.on('error', finish);
`;

/** A watchdog that dies more often than this is not started again; something kills it on purpose. */
const MAX_STARTS = 10;

/** Ends process groups that toolscout could not end itself because it was killed (A38). */
export interface Watchdog {
  /** Starts the process unless it runs; called before a child is born, so that none is ever unwatched. */
  prepare(): void;
  /** Watches a group from now on. */
  add(group: number): void;
  /** Must be called as soon as a group is gone: its id may be given to a stranger at any time. */
  remove(group: number): void;
  /** The process id, while one runs. */
  readonly pid: number | undefined;
  /** Lets the watchdog finish; groups that are still there are ended by it: SIGTERM, then SIGKILL after `killAfterMs`. */
  close(options?: { readonly killAfterMs?: number }): void;
}

/** One tiny process beside toolscout, started lazily; it never keeps toolscout alive. */
export function createWatchdog(deps: { readonly clock: Clock; readonly log: Log }): Watchdog {
  const groups = new Set<number>();
  let running: ChildProcess | undefined;
  let starts = 0;
  let closed = false;

  const write = (text: string): void => {
    running?.stdin?.write(text);
  };

  const lost = (dead: ChildProcess, why: string): void => {
    if (running !== dead) return;
    running = undefined;
    if (closed || groups.size === 0) return;
    deps.log.warn('watchdog.lost', { why });
    // Not at once: whatever killed it may do so again.
    deps.clock.after(100, start);
  };

  function start(): void {
    if (running || closed) return;
    if (starts >= MAX_STARTS) {
      deps.log.error('watchdog.gone', { starts });
      return;
    }
    starts += 1;
    const started = spawn(
      process.execPath,
      ['--max-old-space-size=16', '--v8-pool-size=0', '-e', SOURCE, ...[...groups].map(String)],
      {
        cwd: '/',
        env: {},
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
      },
    );
    running = started;
    started.once('error', (error) => lost(started, messageOf(error)));
    started.once('exit', (code, signal) => lost(started, signal ?? `exit ${code}`));
    started.stdin.on('error', (error) => deps.log.debug('watchdog.pipe', { why: messageOf(error) }));
    started.unref();
    (started.stdin as unknown as { unref?: () => void }).unref?.();
  }

  return {
    get pid() {
      return running?.pid;
    },
    prepare: start,
    add(group) {
      groups.add(group);
      write(`+${group}\n`);
    },
    remove(group) {
      if (groups.delete(group)) write(`-${group}\n`);
    },
    close({ killAfterMs } = {}) {
      closed = true;
      if (killAfterMs !== undefined) write(`=${killAfterMs}\n`);
      running?.stdin?.end();
    },
  };
}
