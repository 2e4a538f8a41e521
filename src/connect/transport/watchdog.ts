import { spawn, type ChildProcess } from 'node:child_process';
import type { Clock } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { Log } from '../../kernel/log.js';
import { CHILD_VARIABLE } from '../../protocol/child-mark.js';

/**
 * The whole watchdog program. It is born knowing the mark of its keeper and the groups in its arguments, so that there is no
 * moment without them, and learns of others as `+pgid` and `-pgid` lines, of a child that has ended as `~number`, and of its patience as `=ms`;
 * when its stdin ends, toolscout is gone, however it died, and what is left of the groups is ended. What left its group (`setsid`, a daemon)
 * is found by its environment, where the system has `/proc`. Ids below 2 are refused: `kill(-1)` would reach every process of the user.
 */
const SOURCE = `
const { readdirSync, readFileSync } = require('fs');
const [, mark, ...known] = process.argv;
const groups = new Set(known.map(Number));
const ended = new Set();
const NUL = String.fromCharCode(0);
const SIGN = NUL + '${CHILD_VARIABLE}=' + mark + '.';
let rest = '';
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
const send = (pid, signal) => { try { process.kill(pid, signal); return true; } catch { return false; } };
const read = (path) => { try { return readFileSync(path, 'latin1'); } catch { return ''; } };
const list = () => { try { return readdirSync('/proc'); } catch { return []; } };
const strays = (isWanted) => list().filter((name) => Number(name) > 1).map(Number).filter((pid) => {
  const environment = NUL + read('/proc/' + pid + '/environ');
  const at = environment.indexOf(SIGN);
  if (at === -1 || !isWanted(parseInt(environment.slice(at + SIGN.length), 10))) return false;
  const stat = read('/proc/' + pid + '/stat');
  const [state, , group] = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  return state !== 'Z' && !groups.has(Number(group));
});
const signalStrays = (signal, isWanted) => strays(isWanted).filter((pid) => send(pid, signal)).length;
const isAny = () => true;
const signalAll = (signal) => {
  for (const group of groups) if (!send(-group, signal)) groups.delete(group);
  if (groups.size === 0 && signalStrays(signal, isAny) === 0) process.exit(0);
};
let killAfterMs = 1000;
const finish = () => {
  signalStrays('SIGTERM', isAny);
  signalAll('SIGTERM');
  setInterval(() => signalAll(0), 50);
  setTimeout(() => {
    signalAll('SIGKILL');
    for (let again = 0; again < 5 && signalStrays('SIGKILL', isAny) > 0; again++);
    process.exit(0);
  }, killAfterMs);
};
let sweeping;
const sweep = () => {
  sweeping = undefined;
  const numbers = new Set(ended);
  ended.clear();
  const isWanted = (number) => numbers.has(number);
  if (signalStrays('SIGTERM', isWanted) > 0) setTimeout(() => signalStrays('SIGKILL', isWanted), 1000);
};
process.stdin.setEncoding('latin1');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const group = Number(line.slice(1));
    if (line[0] === '=') killAfterMs = group;
    else if (line[0] === '~') { ended.add(group); sweeping ??= setTimeout(sweep, 200); }
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
  /** Watches a group from now on; its leader was started with this mark. */
  add(group: number, mark: string): void;
  /** Must be called as soon as a group is gone: its id may be given to a stranger at any time. What left it is ended. */
  remove(group: number): void;
  /** The mark for the environment of the next child. */
  nextMark(): string;
  /** The process id, while one runs. */
  readonly pid: number | undefined;
  /** Lets the watchdog finish; groups that are still there are ended by it: SIGTERM, then SIGKILL after `killAfterMs`. */
  close(options?: { readonly killAfterMs?: number }): void;
}

/** One tiny process beside toolscout, started lazily; it never keeps toolscout alive. */
export function createWatchdog(deps: { readonly clock: Clock; readonly log: Log }): Watchdog {
  const mark = newId();
  let last = 0;
  /** The number of the mark of each group. */
  const groups = new Map<number, string>();
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
      ['--max-old-space-size=16', '--v8-pool-size=0', '-e', SOURCE, mark, ...[...groups.keys()].map(String)],
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
    nextMark: () => `${mark}.${++last}`,
    add(group, given) {
      groups.set(group, given.slice(mark.length + 1));
      write(`+${group}\n`);
    },
    remove(group) {
      const number = groups.get(group);
      if (groups.delete(group)) write(`-${group}\n~${number}\n`);
    },
    close({ killAfterMs } = {}) {
      closed = true;
      if (killAfterMs !== undefined) write(`=${killAfterMs}\n`);
      running?.stdin?.end();
    },
  };
}
