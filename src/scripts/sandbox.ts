import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  EvalFlags,
  Intrinsics,
  JSException,
  MAX_STACK_SIZE,
  QuickJS,
  type JSValueHandle,
  type QuickJSOptions,
  type Snapshot,
} from 'quickjs-wasi';
import type { Clock } from '../kernel/clock.js';
import { HOST_FUNCTION, PRELUDE, PRELUDE_FILE, SCRIPT_FILE } from './prelude.js';
import type {
  Breach,
  CallRequest,
  SandboxBounds,
  ScriptEnd,
  ThrownError,
  VmImage,
  WorkerRequest,
} from './worker-messages.js';

/** Everything of ECMAScript, and nothing that the engine has beside it. */
const INTRINSICS = (Intrinsics.ALL & ~Intrinsics.PERFORMANCE & ~Intrinsics.ATOB_BTOA & ~Intrinsics.DOM_EXCEPTION) >>> 0;

/** The maximum of rejected promises that are tracked; further ones are ignored. */
const MAX_UNHANDLED = 100;

/** A line of so many bytes is printed whole or not at all. */
const SHORT_LINE = 200;

/** What a script has to say after it computed. */
export interface Rest {
  readonly calls: CallRequest[];
  readonly printed: string[];
  readonly computedMs: number;
  readonly end?: ScriptEnd;
}

/** A script reached a bound; its VM must not be used any more. */
export class SandboxBreach extends Error {
  constructor(
    readonly breach: Breach,
    detail: string,
    /** What the script printed before, and where it was. */
    readonly about: { readonly printed?: readonly string[]; readonly place?: string } = {},
  ) {
    super(detail);
  }
}

/** One script in one VM. */
export interface Sandbox {
  /** Runs until every promise that can go on has gone on. @throws SandboxBreach */
  start(request: Extract<WorkerRequest, { type: 'start' }>): Rest;
  /** @throws SandboxBreach */
  answer(request: Extract<WorkerRequest, { type: 'answer' }>): Rest;
  /** Reports what a restored script waits for. */
  rest(): Rest;
  image(): VmImage;
  dispose(): void;
}

/** The VM after the prelude; every script begins with a copy of it. */
interface Base {
  readonly snapshot: Snapshot;
  readonly exports: number;
}

/** Makes sandboxes from one compiled engine. */
export interface SandboxFactory {
  create(bounds: SandboxBounds, now: number): Promise<Sandbox>;
  restore(image: VmImage, bounds: SandboxBounds, now: number): Promise<Sandbox>;
}

/** The parts of a VM that are the host's, not the guest's: they are created for every copy. */
interface Surroundings {
  now: number;
  /** Monotonic time at which computing must have ended. */
  stopAt: number;
  isInterrupted: boolean;
  readonly onRejection: { current: NonNullable<QuickJSOptions['onUnhandledRejection']> };
}

function optionsFor(wasm: Engine, memoryBytes: number, around: Surroundings, clock: Clock): QuickJSOptions {
  return {
    wasm,
    memoryLimit: memoryBytes,
    maxStackSize: MAX_STACK_SIZE,
    intrinsics: INTRINSICS,
    timezoneOffset: 0,
    interruptHandler: () => {
      if (clock.monotonic() > around.stopAt) around.isInterrupted = true;
      return around.isInterrupted;
    },
    onUnhandledRejection: (...given) => around.onRejection.current(...given),
    wasi: (memory) => ({
      clock_time_get(_clock: number, _precision: bigint, at: number) {
        new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round(around.now)) * 1_000_000n, true);
        return 0;
      },
      random_get(at: number, length: number) {
        new Uint8Array(memory.buffer, at, length).fill(0);
        return 0;
      },
      // The output of the engine is discarded.
      fd_write: () => 0,
    }),
  };
}

function surroundings(now: number): Surroundings {
  return { now, stopAt: Infinity, isInterrupted: false, onRejection: { current: () => undefined } };
}

/** Names the engine and the prelude, so that an image is read only by what wrote it. */
function engineName(wasm: Uint8Array): string {
  return createHash('sha256').update(wasm).update(PRELUDE).digest('hex').slice(0, 32);
}

/** A compiled engine. */
type Engine = QuickJSOptions['wasm'];

/** The types of Node.js do not know that there is WebAssembly. */
const engines = (globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<Engine> } }).WebAssembly;

/** A factory for the engine of these bytes. */
export async function createSandboxFactory(bytes: Uint8Array, clock: Clock): Promise<SandboxFactory> {
  const wasm = await engines.compile(bytes);
  const engine = engineName(bytes);
  const base = await makeBase(wasm, clock);
  const open = async (
    snapshot: Snapshot,
    bounds: SandboxBounds,
    now: number,
    exports: number,
    image?: VmImage,
  ): Promise<Sandbox> => {
    const around = surroundings(now);
    const vm = await QuickJS.restore(snapshot, optionsFor(wasm, bounds.memoryBytes, around, clock));
    return createSandbox(vm, around, bounds, { clock, engine, exports, image });
  };
  return {
    create: (bounds, now) => open(base.snapshot, bounds, now, base.exports),
    restore(image, bounds, now) {
      if (image.engine !== engine) throw new SandboxBreach('engine', 'it was suspended by another version');
      const snapshot = QuickJS.deserializeSnapshot(gunzipSync(image.memory));
      return open(snapshot, bounds, now, image.exports, image);
    },
  };
}

async function makeBase(wasm: Engine, clock: Clock): Promise<Base> {
  const vm = await QuickJS.create(optionsFor(wasm, 0, surroundings(0), clock));
  vm.newFunction(HOST_FUNCTION, () => vm.undefined).consume((ask) => vm.setProp(vm.global, HOST_FUNCTION, ask));
  const functions = vm.evalCode(PRELUDE, PRELUDE_FILE);
  const exports = vm.exportHandle(functions);
  vm.runGC();
  const snapshot = vm.snapshot();
  vm.dispose();
  return { snapshot, exports };
}

function errorOf(thrown: JSException): ThrownError {
  const { name, message, stack = '' } = thrown;
  return { name, message, stack };
}

function createSandbox(
  vm: QuickJS,
  around: Surroundings,
  bounds: SandboxBounds,
  {
    clock,
    engine,
    exports,
    image,
  }: { readonly clock: Clock; readonly engine: string; readonly exports: number; readonly image?: VmImage },
): Sandbox {
  const functions = vm.importHandle(exports);
  let calls: CallRequest[] = [];
  let printed: string[] = [];
  let printedBytes = image?.printedBytes ?? 0;
  let end: ScriptEnd | undefined = image?.end;
  let computedMs = 0;
  const unhandled = new Map<number, { readonly token: number; error: string }>(
    image?.unhandled.map(([identity, token, error]) => [identity, { token, error }]),
  );
  let rejected: Array<{ readonly promise: JSValueHandle; readonly reason: JSValueHandle }> = [];

  around.onRejection.current = (promise, reason, isHandled) => {
    if (isHandled) {
      unhandled.delete(promise.identity);
      rejected = rejected.filter((each) => each.promise.identity !== promise.identity);
    } else if (unhandled.size + rejected.length < MAX_UNHANDLED) {
      // Both are kept alive: another promise at the same address would be taken for this one.
      rejected.push({ promise: promise.dup(), reason: reason.dup() });
    }
  };

  const say = (line: string): void => {
    const bytes = Buffer.byteLength(line) + 1;
    if (printedBytes + bytes > bounds.printBytes) {
      const room = bounds.printBytes - printedBytes;
      if (room > 0 && bytes > SHORT_LINE) printed.push(bytesOf(line, room));
      if (room >= 0) printed.push('… further output was left out.');
      printedBytes = bounds.printBytes + 1;
      return;
    }
    printedBytes += bytes;
    printed.push(line);
  };

  const hear = (kind: string, id: number, first: string, second: string): void => {
    if (kind === 'print') return say(first);
    if (kind === 'call') {
      const [server, tool, raw] = JSON.parse(first) as [string, string, boolean];
      calls.push({ id, server, tool, json: second, raw });
      return;
    }
    if (kind === 'error') end = { kind: 'error', error: JSON.parse(first) as ThrownError };
    else end = { kind: 'value', json: kind === 'value' ? first : undefined };
  };
  const ask = (...args: JSValueHandle[]): JSValueHandle => {
    const [kind, id, first, second] = args;
    hear(kind!.toString(), id!.toNumber(), first!.toString(), second!.toString());
    return vm.undefined;
  };
  vm.registerHostCallback(HOST_FUNCTION, ask);

  /** Names what was rejected and not handled. It runs code of the script, so it belongs to computing. */
  const nameRejected = (): void => {
    const named = rejected;
    rejected = [];
    for (const { promise, reason } of named) {
      const error = call('unhandled', reason);
      unhandled.set(promise.identity, { token: vm.exportHandle(promise), error });
      reason.dispose();
    }
  };

  const call = (name: string, ...args: JSValueHandle[]): string => {
    const fn = functions.getProp(name);
    const answer = vm.callFunction(fn, vm.undefined, ...args);
    fn.dispose();
    return answer.consume((value) => (value.isString ? value.toString() : ''));
  };

  /** Computes within the bounds, until nothing can go on. */
  const compute = (work: () => void): Rest => {
    const started = clock.monotonic();
    around.stopAt = started + bounds.computeMs - computedMs;
    try {
      work();
      vm.executePendingJobs();
      while (rejected.length > 0) {
        nameRejected();
        vm.executePendingJobs();
      }
    } catch (thrown) {
      throw breachOf(thrown);
    } finally {
      computedMs += clock.monotonic() - started;
    }
    if (around.isInterrupted) throw breachOf(undefined);
    return rest();
  };

  const breachOf = (thrown: unknown): SandboxBreach => {
    if (thrown instanceof SandboxBreach) return thrown;
    const place = thrown instanceof JSException ? thrown.stack : undefined;
    const about = { printed, ...(place !== undefined && { place }) };
    if (around.isInterrupted) return new SandboxBreach('compute', 'interrupted', about);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new SandboxBreach(/out of memory|null|allocation/i.test(message) ? 'memory' : 'engine', message, about);
  };

  const rest = (): Rest => {
    if (end?.kind === 'value' && end.json !== undefined && Buffer.byteLength(end.json) > bounds.outputBytes) {
      throw new SandboxBreach('output', String(Buffer.byteLength(end.json)), { printed });
    }
    if (end?.kind === 'error' && isOutOfMemory(end.error)) {
      const { message, stack: place = '' } = end.error;
      throw new SandboxBreach('memory', message, { printed, place });
    }
    const [first] = unhandled.values();
    const ended: ScriptEnd | undefined =
      end?.kind === 'value' && first ? { kind: 'error', error: unhandledError(first.error) } : end;
    const said: Rest = { calls, printed, computedMs, ...(ended && { end: ended }) };
    calls = [];
    printed = [];
    return said;
  };

  return {
    start({ script, seed }) {
      return compute(() => {
        const numbers = seed.map((each) => vm.newNumber(each));
        call('begin', ...numbers);
        for (const each of numbers) each.dispose();
        let main: JSValueHandle;
        try {
          // Text that ends one function and opens another is not the body of one: it cannot do so in both of these.
          const code = `(async () => {\n${script}\n})`;
          for (const form of [code, `class A { async a() {\n${script}\n} }`]) {
            vm.evalCode(form, SCRIPT_FILE, EvalFlags.COMPILE_ONLY).dispose();
          }
          main = vm.evalCode(code, SCRIPT_FILE);
        } catch (thrown) {
          if (!(thrown instanceof JSException) || around.isInterrupted || isOutOfMemory(thrown)) throw thrown;
          end = { kind: 'syntax', error: errorOf(thrown) };
          return;
        }
        call('run', main);
        main.dispose();
      });
    },
    answer({ id, kind, text, now }) {
      around.now = now;
      return compute(() => {
        const args = [vm.newNumber(id), vm.newString(kind), vm.newString(text)];
        call('answer', ...args);
        for (const each of args) each.dispose();
      });
    },
    rest,
    image() {
      vm.runGC();
      return {
        memory: gzipSync(QuickJS.serializeSnapshot(vm.snapshot()), { level: 3 }),
        engine,
        exports,
        printedBytes,
        unhandled: [...unhandled].map(([identity, { token, error }]) => [identity, token, error]),
        ...(end && { end }),
      };
    },
    dispose: () => vm.dispose(),
  };
}

/** The beginning of a text that is no longer than so many bytes. */
function bytesOf(text: string, bytes: number): string {
  const cut = Buffer.from(text.slice(0, bytes), 'utf8').subarray(0, bytes).toString('utf8');
  // A character of several bytes that was cut is left out.
  return cut.endsWith('\uFFFD') && !text.startsWith(cut) ? cut.slice(0, -1) : cut;
}

function isOutOfMemory({ name, message }: { readonly name?: string; readonly message: string }): boolean {
  return name === 'InternalError' && message === 'out of memory';
}

function unhandledError(json: string): ThrownError {
  const error = JSON.parse(json === '' ? '{"message":"unknown"}' : json) as ThrownError;
  return { ...error, message: `${error.message} (nothing handled this rejection: await the promise, or catch it)` };
}
