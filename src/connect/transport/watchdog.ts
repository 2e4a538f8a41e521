import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import type { Log } from '../../kernel/log.js';
import { CHILD_VARIABLE } from '../../protocol/child-mark.js';

/**
 * The watchdog: a shell, because it lives as long as toolscout and a process of Node.js takes forty megabytes. It is born knowing the mark of
 * its keeper and the groups in its arguments, so that there is no moment without them, and learns of others as `+pgid` and `-pgid` lines, of
 * children that have ended as `~number|number`, and of its patience as `=ms`. When its stdin ends, toolscout is gone, however it died, and the
 * reaper ends what is left. Ids below 2 are refused: `kill(-1)` would reach every process of the user. Without Node.js it ends the groups alone.
 */
const WATCH = `
trap '' INT TERM HUP
mark=$1 node=$2 source=$3
shift 3
groups=" $* "
patience=1000
# Whether a process with the mark of one of these children may be there: Node.js is not started in vain. Without grep it may be.
may_be() {
  grep -qsE "${CHILD_VARIABLE}=$mark\\.($1)" /proc/[0-9]*/environ
  case $? in 1 | 2) return 1 ;; esac
}
reap() {
  action=$1 detail=$2
  shift 2
  "$node" --max-old-space-size=16 --v8-pool-size=0 -e "$source" "$action" "$mark" "$detail" "$@" </dev/null >/dev/null 2>&1
}
while IFS= read -r line; do
  detail=\${line#?}
  case $line in
    =*) patience=$detail ;;
    '~'*) if may_be "$detail"; then reap sweep "$detail" $groups & fi ;;
    +*) case $detail in '' | 0 | 1 | *[!0-9]*) ;; *) groups="$groups$detail " ;; esac ;;
    -*) case $groups in *" $detail "*) groups="\${groups%%" $detail "*} \${groups#*" $detail "}" ;; esac ;;
  esac
done
set -- $groups
if [ $# -eq 0 ] && ! may_be '[0-9]'; then exit 0; fi
if [ -x "$node" ] && reap end "$patience" $groups; then exit 0; fi
for group in $groups; do kill -s TERM -- "-$group"; done 2>/dev/null
sleep 1
for group in $groups; do kill -s KILL -- "-$group"; done 2>/dev/null
`;

/**
 * Runs for a moment beside the watchdog: `end` ends all groups and what left them, `sweep` ends what the children of these numbers left
 * behind. What left its group (`setsid`, a daemon) is found by its environment, where the system has `/proc`.
 */
const REAP = `
const { readdirSync, readFileSync } = require('fs');
const [, action, mark, detail, ...known] = process.argv;
const groups = new Set(known.map(Number));
const NUL = String.fromCharCode(0);
const SIGN = NUL + '${CHILD_VARIABLE}=' + mark + '.';
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
if (action === 'end') {
  signalStrays('SIGTERM', isAny);
  signalAll('SIGTERM');
  setInterval(() => signalAll(0), 50);
  setTimeout(() => {
    signalAll('SIGKILL');
    for (let again = 0; again < 5 && signalStrays('SIGKILL', isAny) > 0; again++);
    process.exit(0);
  }, Number(detail));
} else {
  const numbers = new Set(detail.split('|').map(Number));
  const isWanted = (number) => numbers.has(number);
  if (signalStrays('SIGTERM', isWanted) > 0) setTimeout(() => signalStrays('SIGKILL', isWanted), 1000);
}
`;

/** Children that end within this time are swept after together. */
const SWEEP_AFTER_MS = 200;
/** Where what left its group can be found. */
const PROCESS_LIST = '/proc/self/environ';

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

/** One small process beside toolscout, started lazily; it never keeps toolscout alive. */
export function createWatchdog(deps: { readonly clock: Clock; readonly log: Log }): Watchdog {
  const mark = newId();
  let last = 0;
  /** The number of the mark of each group. */
  const groups = new Map<number, string>();
  let running: ChildProcess | undefined;
  let starts = 0;
  let closed = false;
  /** Numbers of children that have ended and were not swept after yet. */
  let ended: string[] = [];
  const canSweep = existsSync(PROCESS_LIST);

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
    const names = [...groups.keys()].map(String);
    const started = spawn('/bin/sh', ['-c', WATCH, 'toolscout-watchdog', mark, process.execPath, REAP, ...names], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    running = started;
    started.once('error', (error) => lost(started, messageOf(error)));
    started.once('exit', (code, signal) => lost(started, signal ?? `exit ${code}`));
    started.stdin.on('error', (error) => deps.log.debug('watchdog.pipe', { why: messageOf(error) }));
    started.unref();
    (started.stdin as unknown as { unref?: () => void }).unref?.();
  }

  /** Has what this child left behind ended, with what others left that end about now. */
  function sweepLater(number: string): void {
    if (ended.push(number) > 1) return;
    deps.clock.after(SWEEP_AFTER_MS, () => {
      write(`~${ended.join('|')}\n`);
      ended = [];
    });
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
      if (number === undefined) return;
      groups.delete(group);
      write(`-${group}\n`);
      if (canSweep) sweepLater(number);
    },
    close({ killAfterMs } = {}) {
      closed = true;
      if (killAfterMs !== undefined) write(`=${killAfterMs}\n`);
      running?.stdin?.end();
    },
  };
}
