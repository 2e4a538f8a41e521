import { Session, type Debugger } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const SOURCE = new URL('../../src/', import.meta.url);

/** Runs that are compared: a function that is not called in all of them belongs to something else. */
const RUNS = 3;

/** Where a breakpoint hands over the name of its file. */
const MARK = '__fileEntered';

/** Follows what this process does through the files of `src/`. */
export interface Follower {
  /**
   * The files in which a function is called while `run` runs, relative to `src/`, in the order in which they are entered.
   * It runs several times: once to warm up, some to find the functions, and once with a breakpoint in each of them, whose
   * condition notes the file and is never true.
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

/** A follower of this process. */
export async function createFollower(): Promise<Follower> {
  const session = new Session();
  const paths = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {
    const [address = ''] = url.split('?');
    if (address.startsWith(SOURCE.href)) {
      paths.set(scriptId, fileURLToPath(address).slice(fileURLToPath(SOURCE).length));
    }
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

  const setBreakpoint = async ({ scriptId, from, to }: CalledFunction): Promise<string | undefined> => {
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    const { locations } = await session.post('Debugger.getPossibleBreakpoints', {
      start: { scriptId, ...placeAt(scriptSource, from) },
      end: { scriptId, ...placeAt(scriptSource, to) },
      restrictToFunction: true,
    });
    const [location] = locations;
    if (!location) return undefined;
    const { lineNumber, columnNumber } = location;
    const { breakpointId } = await session.post('Debugger.setBreakpoint', {
      location: { scriptId, lineNumber, columnNumber },
      condition: `globalThis.${MARK}?.(${JSON.stringify(paths.get(scriptId))}), false`,
    });
    return breakpointId;
  };

  return {
    async follow(run) {
      const points: string[] = [];
      for (const called of await functionsOf(run)) {
        const point = await setBreakpoint(called);
        if (point !== undefined) points.push(point);
      }
      const entered = new Set<string>();
      Reflect.set(globalThis, MARK, (path: string) => entered.add(path));
      await run();
      Reflect.deleteProperty(globalThis, MARK);
      for (const breakpointId of points) await session.post('Debugger.removeBreakpoint', { breakpointId });
      return [...entered];
    },
    close: () => session.disconnect(),
  };
}
