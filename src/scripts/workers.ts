/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origins */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../kernel/clock.js';
import type { WorkerMessage, WorkerRequest } from './worker-messages.js';

/** A worker that is lent to one script. */
export interface LentWorker {
  post(request: WorkerRequest): void;
  /** Keeps it for the next script; its VM must be discarded. */
  giveBack(): void;
  /** Ends it, whatever it is doing. */
  end(): void;
}

/** Gets the messages of a borrowed worker. */
export interface WorkerListener {
  onMessage(message: WorkerMessage): void;
  /** It ended by itself. */
  onEnd(reason: Error): void;
}

/** The workers that scripts run in: each runs one at a time, and one stays for the next. */
export interface Workers {
  /** Lends a worker to a script of `owner`; it waits while that owner, or all together, have as many as they may. */
  lend(listener: WorkerListener, owner?: string): Promise<LentWorker>;
  /** Ends all of them. */
  close(): Promise<void>;
}

/** Workers that run at once for one owner, and for all: one cannot make the scripts of the others wait (A43). */
const MAX_WORKERS_EACH = 8;
const MAX_WORKERS = 12;
/** A worker that was idle for this long is ended. */
const IDLE_MS = 60_000;
/** Scripts that one worker runs: whatever an engine may leave behind goes with it. */
const MAX_SCRIPTS = 500;
/** Of the worker's own code: what a script computes is in the memory of its VM, which has its own bound. */
const RESOURCES = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 8 };

/** It has no environment: there is nothing to read in it. */
export const openOptions = {
  env: {},
  execArgv: [],
  stdin: false,
  stdout: true,
  stderr: true,
  resourceLimits: RESOURCES,
};

/** Opens a thread: from the bundle, or from the source with what runs the source. */
function openThread(): Worker {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) {
    const beside = /[\\/]chunks[\\/][^\\/]+$/.test(here) ? '../script-worker.js' : './script-worker.js';
    return new Worker(new URL(beside, here), openOptions);
  }
  const source = JSON.stringify(new URL('./worker.ts', here).href);
  const options = JSON.stringify({ nativeModules: ['quickjs-wasi'] });
  // By its file: an eval worker would look for the package in the working directory.
  const loader = JSON.stringify(pathToFileURL(createRequire(here).resolve('jiti')).href);
  const code = `import(${loader}).then(({ createJiti }) => createJiti(${source}, ${options}).import(${source}))`;
  return new Worker(code, { ...openOptions, eval: true });
}

class ScriptWorker {
  listener: WorkerListener | undefined;
  scripts = 0;
  hasEnded = false;
  readonly ready: Promise<void>;

  constructor(
    readonly thread: Worker,
    onEnd: (worker: ScriptWorker) => void,
  ) {
    this.ready = new Promise((resolve, reject) => {
      const ended = (reason: Error): void => {
        if (this.hasEnded) return;
        this.hasEnded = true;
        reject(reason);
        onEnd(this);
        this.listener?.onEnd(reason);
      };
      thread.on('message', (message: WorkerMessage) => {
        if (message.type === 'ready') resolve();
        else this.listener?.onMessage(message);
      });
      thread.on('error', (error) => ended(error instanceof Error ? error : new Error(String(error))));
      thread.on('exit', (code) => ended(new Error(`the worker ended with code ${code}`)));
    });
    // The borrower awaits it; no other code needs to handle the rejection.
    this.ready.catch(() => undefined);
  }
}

/** No worker runs until a script does. */
export function createWorkers({
  clock,
  open = openThread,
}: {
  readonly clock: Clock;
  readonly open?: () => Worker;
}): Workers {
  const all = new Set<ScriptWorker>();
  let idle: ScriptWorker[] = [];
  let waiting: Array<{ readonly owner: string; readonly go: () => void }> = [];
  const lentTo = new Map<string, number>();
  let timer: Timer | undefined;
  let lent = 0;

  const end = (worker: ScriptWorker): void => {
    idle = idle.filter((each) => each !== worker);
    all.delete(worker);
    worker.listener = undefined;
    worker.hasEnded = true;
    void worker.thread.terminate();
  };
  const ownedBy = (owner: string): number => lentTo.get(owner) ?? 0;
  const isFree = (owner: string): boolean => lent < MAX_WORKERS && ownedBy(owner) < MAX_WORKERS_EACH;
  const count = (owner: string, more: 1 | -1): void => {
    lent += more;
    const own = ownedBy(owner) + more;
    if (own === 0) lentTo.delete(owner);
    else lentTo.set(owner, own);
  };
  /** The next is the first that waits of the owner that has fewest. */
  const free = (owner: string): void => {
    count(owner, -1);
    const [next] = waiting.filter((each) => isFree(each.owner)).toSorted((a, b) => ownedBy(a.owner) - ownedBy(b.owner));
    if (!next) return;
    waiting = waiting.filter((each) => each !== next);
    count(next.owner, 1);
    next.go();
  };
  const turn = async (owner: string): Promise<void> => {
    if (isFree(owner)) count(owner, 1);
    else await new Promise<void>((resolve) => waiting.push({ owner, go: resolve }));
  };
  const endIdle = (): void => {
    timer = undefined;
    for (const worker of idle) end(worker);
  };

  return {
    async lend(listener, owner = '') {
      await turn(owner);
      timer?.cancel();
      timer = undefined;
      let worker = idle.pop();
      if (!worker) {
        worker = new ScriptWorker(open(), (ended) => {
          idle = idle.filter((each) => each !== ended);
          all.delete(ended);
        });
        all.add(worker);
      }
      const own = worker;
      own.thread.ref();
      own.listener = listener;
      let isLent = true;
      const leave = (): boolean => {
        if (!isLent) return false;
        isLent = false;
        own.listener = undefined;
        free(owner);
        return true;
      };
      try {
        await own.ready;
      } catch (thrown) {
        leave();
        throw thrown;
      }
      return {
        post: (request) => own.thread.postMessage(request),
        giveBack() {
          if (!leave() || own.hasEnded) return;
          own.scripts += 1;
          // One is kept for the next script; what many scripts at once needed goes again.
          if (own.scripts >= MAX_SCRIPTS || idle.length > 0) return end(own);
          own.thread.postMessage({ type: 'discard' } satisfies WorkerRequest);
          own.thread.unref();
          idle.push(own);
          timer?.cancel();
          timer = clock.after(IDLE_MS, endIdle);
        },
        end() {
          if (leave()) end(own);
        },
      };
    },
    async close() {
      timer?.cancel();
      waiting = [];
      const threads = [...all].map(({ thread }) => thread);
      for (const worker of all) worker.hasEnded = true;
      all.clear();
      idle = [];
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}
