import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { sleep, type Clock, type Timer } from '../../kernel/clock.js';
import { messageOf, ToolscoutError, toToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import { CHILD_VARIABLE } from '../../protocol/child-mark.js';
import { createWatchdog } from './watchdog.js';

/** After closing stdin a child has this long before it is asked with SIGTERM. */
const POLITE_MS = 500;
/** After this, counted from the beginning of stopping, nothing is asked any more: SIGKILL. */
const PATIENT_MS = 5000;
/** What a leader leaves behind has this long between SIGTERM and SIGKILL. */
const LEFTOVER_MS = 1000;
/** How often it is looked whether a group is empty. */
const POLL_MS = 25;
/** Nothing survives SIGKILL; a zombie that no init reaps (in a container) must not be waited for. */
const BURIAL_MS = 1000;

/** What to start: no shell is involved, every argument arrives as it is written. */
export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** How a child ended. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A running child, leader of its own process group. */
export interface Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** How it ended; `undefined` while it runs. */
  readonly exit: ChildExit | undefined;
  /** Resolves when the child has ended; its group may still be there. */
  readonly exited: Promise<ChildExit>;
  /** Resolves when the child and its whole process group are gone. */
  readonly gone: Promise<void>;
  /** Closes stdin, then SIGTERM, then SIGKILL, to the whole group; resolves when all are gone. */
  stop(): Promise<void>;
  /** SIGKILL to the whole group at once, for a child that does harm as long as it runs. */
  kill(): Promise<void>;
}

/** A child as its keeper holds it. */
interface KeptChild extends Child {
  /** Gives it up: this process no longer waits for it. */
  abandon(): void;
}

/** Starts children and sees to it that none is left behind (CONN-4). */
export interface ChildKeeper {
  /** Resolves when the program runs; rejects with an error a person can act on when it cannot. */
  spawn(command: ChildCommand): Promise<Child>;
  /** Children whose group is not yet known to be gone. */
  readonly count: number;
  /**
   * Stops all children; no new one can be started afterwards. After `graceMs` those that still run are left to the watchdog, which
   * ends them as `stop` would, and this process need not wait for them.
   */
  closeAll(options?: { readonly graceMs?: number }): Promise<void>;
}

type Process = ChildProcessByStdio<Writable, Readable, Readable>;

/** Signals a whole process group; `false` when the group is empty. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // ESRCH: the group is empty. EPERM: the id belongs to another user by now, so ours is gone as well.
    return false;
  }
}

/** Windows has no groups to signal; `taskkill` walks the tree of the process instead. */
function killTree(pid: number, log: Log): void {
  const killer = spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
  killer.once('error', (error) => log.warn('child.taskkill', { pid, why: messageOf(error) }));
}

async function explainSpawnError(command: ChildCommand, thrown: unknown): Promise<ToolscoutError> {
  const code = (thrown as { code?: string }).code;
  const details = { delivered: false, cause: thrown };
  const error = toToolscoutError(thrown, 'SERVER_CONNECTION_ERROR');
  if (error.code === 'OVERLOADED') return error;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const folder = command.cwd === undefined || (await isFolder(command.cwd));
    const message = folder
      ? `The command "${command.command}" was not found.`
      : `The working directory "${command.cwd}" does not exist.`;
    const what = folder
      ? 'Install it, or write its full path in the config.'
      : 'Create it, or fix "cwd" in the config.';
    return new ToolscoutError('SERVER_CONNECTION_ERROR', message, { ...details, remedy: { kind: 'configure', what } });
  }
  if (code === 'EACCES') {
    const message = `The command "${command.command}" cannot be executed: permission denied.`;
    const remedy = { kind: 'configure', what: 'Check the permissions of the file.' } as const;
    return new ToolscoutError('SERVER_CONNECTION_ERROR', message, { ...details, remedy });
  }
  const message = `The command "${command.command}" could not be started: ${messageOf(thrown)}`;
  return new ToolscoutError('SERVER_CONNECTION_ERROR', message, details);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Whatever the reason, a folder that cannot be seen cannot be worked in.
    return false;
  }
}

/** A keeper of children. Beside the first child it starts one watchdog, which ends them all if toolscout is killed. */
export function createChildKeeper(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly platform?: NodeJS.Platform;
}): ChildKeeper {
  const { clock, log } = deps;
  const windows = (deps.platform ?? process.platform) === 'win32';
  const watchdog = windows ? undefined : createWatchdog({ clock, log });
  const children = new Set<KeptChild>();
  let closing = false;

  const end = (pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean => {
    if (!windows) return signalGroup(pid, signal);
    if (signal === 'SIGKILL') killTree(pid, log);
    return true;
  };

  const emptied = async (group: number, withinMs: number): Promise<boolean> => {
    const until = clock.monotonic() + withinMs;
    while (signalGroup(group, 0)) {
      if (clock.monotonic() >= until) return false;
      await sleep(clock, POLL_MS);
    }
    return true;
  };

  /** The leader has ended: a grandchild must not survive it. */
  const clearGroup = async (group: number): Promise<void> => {
    if (windows || !signalGroup(group, 'SIGTERM')) return;
    if (await emptied(group, LEFTOVER_MS)) return;
    signalGroup(group, 'SIGKILL');
    if (!(await emptied(group, BURIAL_MS))) log.warn('child.unburied', { group });
  };

  const keep = (started: Process, pid: number): Child => {
    let exit: ChildExit | undefined;
    let stopping: Promise<void> | undefined;
    const timers: Timer[] = [];
    const exited = new Promise<ChildExit>((resolve) => {
      started.once('exit', (code, signal) => {
        exit = { code, signal };
        resolve(exit);
      });
    });
    const gone = exited
      .then(() => clearGroup(pid))
      .finally(() => {
        for (const timer of timers) timer.cancel();
        watchdog?.remove(pid);
        children.delete(child);
      });
    const child: KeptChild = {
      pid,
      stdin: started.stdin,
      stdout: started.stdout,
      stderr: started.stderr,
      exited,
      gone,
      get exit() {
        return exit;
      },
      stop() {
        stopping ??= (() => {
          started.stdin.end();
          if (exit === undefined) {
            timers.push(clock.after(POLITE_MS, () => end(pid, 'SIGTERM')));
            timers.push(clock.after(PATIENT_MS, () => end(pid, 'SIGKILL')));
          }
          return gone;
        })();
        return stopping;
      },
      kill() {
        if (exit === undefined) end(pid, 'SIGKILL');
        return child.stop();
      },
      abandon() {
        for (const timer of timers) timer.cancel();
        if (watchdog?.pid === undefined) end(pid, 'SIGKILL');
        for (const pipe of [started.stdin, started.stdout, started.stderr]) pipe.destroy();
        started.unref();
      },
    };
    // The transport sees a broken pipe as the end of the child; it must not crash anything else.
    const onPipeError = (error: Error): void => log.debug('child.pipe', { pid, why: messageOf(error) });
    for (const pipe of [started.stdin, started.stdout, started.stderr]) pipe.on('error', onPipeError);
    children.add(child);
    return child;
  };

  return {
    get count() {
      return children.size;
    },
    async spawn(command) {
      if (closing) {
        throw new ToolscoutError('SHUTTING_DOWN', 'No server is started while toolscout stops.', { delivered: false });
      }
      watchdog?.prepare();
      const mark = watchdog?.nextMark();
      let started: Process;
      try {
        started = spawn(command.command, [...command.args], {
          cwd: command.cwd,
          env: mark === undefined ? command.env : { ...command.env, [CHILD_VARIABLE]: mark },
          shell: false,
          detached: !windows,
          windowsHide: true,
          stdio: ['pipe', 'pipe', 'pipe'],
        });
      } catch (thrown) {
        throw await explainSpawnError(command, thrown);
      }
      const { pid } = started;
      if (pid === undefined) {
        const thrown = await new Promise<Error>((resolve) => {
          started.once('error', resolve);
        });
        throw await explainSpawnError(command, thrown);
      }
      // Told to the watchdog in the same turn in which the child was born: there is no moment without a keeper.
      if (mark !== undefined) watchdog?.add(pid, mark);
      started.on('error', (error) => log.debug('child.error', { pid, why: messageOf(error) }));
      return keep(started, pid);
    },
    async closeAll({ graceMs } = {}) {
      closing = true;
      const stopped = Promise.all([...children].map((child) => child.stop()));
      if (graceMs === undefined) await stopped;
      else {
        const stop = new AbortController();
        const patience = sleep(clock, graceMs, stop.signal).catch((thrown: unknown) => {
          if (!stop.signal.aborted) throw thrown;
        });
        await Promise.race([stopped, patience]);
        stop.abort();
        for (const child of children) child.abandon();
      }
      watchdog?.close({ killAfterMs: PATIENT_MS - POLITE_MS });
    },
  };
}
