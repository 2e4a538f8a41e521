import { Session, type Debugger } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const SOURCE = new URL('../../src/', import.meta.url);

/** Runs that are compared: a function that is not called in all of them belongs to something else. */
const RUNS = 3;

/** Runs with breakpoints: an order that came twice is the usual one. */
const MOST_RUNS = 5;

/** Where a breakpoint hands over the name of its file. */
const MARK = '__fileEntered';

/** Follows what this process does through the files of `src/`. */
export interface Follower {
  /**
   * The files in which a function is called while `run` runs, relative to `src/`, in the order in which they are entered.
   * It runs several times: once to warm up, some to find the functions, and some with a breakpoint in each
   * of them, whose condition notes the file and is never true.
   */
  follow(run: () => Promise<unknown>): Promise<string[]>;
  close(): void;
}

interface CalledFunction {
  readonly scriptId: string;
  readonly from: number;
  readonly to: number;
}

/** A place in a source text, as the debugger counts. */
function placeAt(text: string, offset: number): Omit<Debugger.Location, 'scriptId'> {
  const before = text.slice(0, offset).split('\n');
  return { lineNumber: before.length - 1, columnNumber: before.at(-1)!.length };
}

/** A follower of this process through those files of `src/` that are stations of a walk. */
export async function createFollower(isStation: (file: string) => boolean): Promise<Follower> {
  const session = new Session();
  const paths = new Map<string, string>();
  const sources = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {
    const [address = ''] = url.split('?');
    if (!address.startsWith(SOURCE.href)) return;
    const file = fileURLToPath(address).slice(fileURLToPath(SOURCE).length);
    // A breakpoint costs time each time it is passed: files that nobody asks for get none.
    if (isStation(file)) paths.set(scriptId, file);
  });
  session.connect();
  await session.post('Debugger.enable');
  await session.post('Profiler.enable');

  const functionsCalled = async (run: () => Promise<unknown>): Promise<Map<string, CalledFunction>> => {
    await session.post('Profiler.takePreciseCoverage');
    await run();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = result
      .filter(({ scriptId }) => paths.has(scriptId))
      .flatMap(({ scriptId, functions }) => functions.map(({ ranges: [range] }) => ({ scriptId, range: range! })))
      .filter(({ range }) => range.count > 0);
    return new Map(
      called.map(({ scriptId, range: { startOffset: from, endOffset: to } }) => [
        `${scriptId}:${from}:${to}`,
        { scriptId, from, to },
      ]),
    );
  };

  const functionsOf = async (run: () => Promise<unknown>): Promise<CalledFunction[]> => {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await run();
    const seen: Array<Map<string, CalledFunction>> = [];
    for (let count = 0; count < RUNS; count++) seen.push(await functionsCalled(run));
    await session.post('Profiler.stopPreciseCoverage');
    const [first = new Map<string, CalledFunction>(), ...others] = seen;
    return [...first].filter(([key]) => others.every((each) => each.has(key))).map(([, called]) => called);
  };

  const sourceOf = async (scriptId: string): Promise<string> => {
    const known = sources.get(scriptId);
    if (known !== undefined) return known;
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    sources.set(scriptId, scriptSource);
    return scriptSource;
  };

  const setBreakpoint = async ({ scriptId, from, to }: CalledFunction): Promise<void> => {
    const source = await sourceOf(scriptId);
    const { locations } = await session.post('Debugger.getPossibleBreakpoints', {
      start: { scriptId, ...placeAt(source, from) },
      end: { scriptId, ...placeAt(source, to) },
      restrictToFunction: true,
    });
    const [location] = locations;
    if (!location) return;
    const { lineNumber, columnNumber } = location;
    await session.post('Debugger.setBreakpoint', {
      location: { scriptId, lineNumber, columnNumber },
      condition: `globalThis.${MARK}?.(${JSON.stringify(paths.get(scriptId))}), false`,
    });
  };

  return {
    async follow(run) {
      for (const called of await functionsOf(run)) await setBreakpoint(called);
      const orders = new Map<string, number>();
      for (let count = 0; count < MOST_RUNS && ![...orders.values()].includes(2); count++) {
        const entered = new Set<string>();
        Reflect.set(globalThis, MARK, (path: string) => entered.add(path));
        await run();
        Reflect.deleteProperty(globalThis, MARK);
        const order = [...entered].join('\n');
        orders.set(order, (orders.get(order) ?? 0) + 1);
      }
      // All of them at once: each removal for itself would compile the functions anew.
      await session.post('Debugger.disable');
      await session.post('Debugger.enable');
      // A timer that fires in one of the runs enters some of the same files earlier.
      const [[usual]] = [...orders].toSorted(([, a], [, b]) => b - a) as [[string, number]];
      // Work in the background comes in between in some runs, never in all of them.
      const each = [...orders.keys()].map((order) => new Set(order.split('\n')));
      return usual.split('\n').filter((file) => each.every((files) => files.has(file)));
    },
    close: () => session.disconnect(),
  };
}
