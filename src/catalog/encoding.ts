import { messageOf } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import type { Log } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import type { Tool } from '../model/tool.js';
import type { Encoded } from '../search/index.js';

/** What a package with a sentence encoder exports: a vector for each text, all of one length. */
export type Embed = (texts: readonly string[]) => Promise<ReadonlyArray<ArrayLike<number>>>;

/** An encoder that was loaded. `id` changes with the package and its version: vectors of two encoders are never compared. */
export interface LoadedEncoder {
  readonly id: string;
  readonly embed: Embed;
}

/** The opinion of an optional sentence encoder about tools (FIND-8). */
export interface Encoding {
  /**
   * How near tools are to a query, as far as vectors are there already; `undefined` when that of the query is not. Nothing is
   * waited for: what is missing is made in the background, for the next search.
   */
  of(query: string, tools: () => Iterable<Tool>): Encoded | undefined;
  /** Resolves when the work in the background has come to its end. */
  settled(): Promise<void>;
}

const SPACE = 'encodings';

/** Texts that are encoded in one go: about a fifth of a second, then others have their turn. */
const BATCH = 16;

/** The most tools whose vectors are kept. A catalog up to this size is encoded ahead of searches; of a larger one only tools that searches find. */
const MAX_TOOLS = 20_000;

/** Queries whose vectors are held, in memory only (A33), and that wait for theirs. */
const MAX_QUERIES = 500;
const MAX_WAITING = 32;

/** What is encoded of a tool or a query, in characters, and the longest vector that is believed. */
const TEXT_LENGTH = 400;
const MAX_NUMBERS = 4096;

/** What is known and wanted of one encoder. Vectors of two are never mixed. */
interface Task {
  readonly name: string;
  loaded?: LoadedEncoder;
  isBroken: boolean;
  /** Vectors of tools, by content hash, and of queries, by their words. */
  readonly vectors: Map<string, Int8Array>;
  readonly queries: Map<string, Int8Array>;
  /** The content hash of each tool that was looked at: a search looks at hundreds. */
  readonly keys: WeakMap<Tool, string>;
  readonly waitingTools: Set<Tool>;
  readonly waitingQueries: Set<string>;
}

/** An encoding over the store. `encoder` names the configured package; it is loaded when a search first needs it. */
export function createEncoding(deps: {
  readonly store: Store;
  readonly log: Log;
  readonly encoder: () => string | undefined;
  readonly load: ((name: string) => Promise<LoadedEncoder>) | undefined;
}): Encoding {
  const { store, log } = deps;
  let current: Task | undefined;
  let working: Promise<void> | undefined;

  function keyOf({ keys }: Task, { id }: LoadedEncoder, tool: Tool): string {
    const known = keys.get(tool);
    if (known !== undefined) return known;
    const key = sha256(`${id}\n${textOf(tool)}`);
    keys.set(tool, key);
    return key;
  }

  function begin(name: string, tools: Iterable<Tool>): Task {
    const all = [...tools];
    return {
      name,
      isBroken: false,
      vectors: new Map(),
      queries: new Map(),
      keys: new WeakMap(),
      waitingTools: new Set(all.length > MAX_TOOLS ? [] : all),
      waitingQueries: new Set(),
    };
  }

  /** Makes what a task waits for, queries first, until there is nothing left or another encoder is configured. */
  async function work(task: Task): Promise<void> {
    // The search that asked is answered first: the encoder may compute on this thread.
    await turnOfOthers();
    const loaded = (task.loaded ??= await deps.load!(task.name));
    for (;;) {
      if (current !== task) return;
      const [query] = task.waitingQueries;
      if (query !== undefined) await encodeQuery(task, loaded, query);
      else if (task.waitingTools.size > 0) await encodeTools(task, loaded);
      else return;
      await turnOfOthers();
    }
  }

  async function encodeQuery(task: Task, { embed }: LoadedEncoder, query: string): Promise<void> {
    task.waitingQueries.delete(query);
    try {
      const [vector] = await embed([query]);
      hold(task.queries, query, toBytes(vector), MAX_QUERIES);
    } catch (thrown) {
      log.warn('search.encoder', { encoder: task.name, reason: messageOf(thrown) });
    }
  }

  async function encodeTools(task: Task, loaded: LoadedEncoder): Promise<void> {
    const missing = new Map<string, string>();
    for (const tool of task.waitingTools) {
      task.waitingTools.delete(tool);
      const key = keyOf(task, loaded, tool);
      if (task.vectors.has(key)) continue;
      const kept = fromStored((await store.get(SPACE, key))?.value);
      if (kept) hold(task.vectors, key, kept, MAX_TOOLS);
      else missing.set(key, textOf(tool));
      if (missing.size >= BATCH) break;
    }
    if (missing.size === 0) return;
    const made = await loaded.embed([...missing.values()]);
    for (const [i, key] of [...missing.keys()].entries()) {
      const vector = toBytes(made[i]);
      hold(task.vectors, key, vector, MAX_TOOLS);
      await store.put(SPACE, key, Buffer.from(vector.buffer).toString('base64'));
    }
  }

  function start(task: Task): void {
    if (task.isBroken) return;
    working ??= work(task)
      .catch((thrown: unknown) => {
        task.isBroken = true;
        log.warn('search.encoder', { encoder: task.name, reason: messageOf(thrown) });
      })
      .finally(() => {
        working = undefined;
        // Another encoder was configured, or something came to wait, after the last look.
        if (current && (current.waitingTools.size > 0 || current.waitingQueries.size > 0)) start(current);
      });
  }

  return {
    of(query, tools) {
      const name = deps.encoder();
      if (name === undefined || !deps.load) return undefined;
      if (current?.name !== name) current = begin(name, tools());
      const task = current;
      if (task.isBroken) return undefined;
      const wanted = plain(query);
      const vector = task.queries.get(wanted);
      if (!vector) {
        if (task.waitingQueries.size < MAX_WAITING) task.waitingQueries.add(wanted);
        start(task);
        return undefined;
      }
      // Held the longest when used the latest.
      hold(task.queries, wanted, vector, MAX_QUERIES);
      return (tool) => {
        const other = task.vectors.get(keyOf(task, task.loaded!, tool));
        if (other) return cosine(vector, other);
        if (task.waitingTools.size < MAX_TOOLS) task.waitingTools.add(tool);
        start(task);
        return undefined;
      };
    },
    async settled() {
      await working;
      // What came to wait in the meantime has begun anew.
      if (working) await this.settled();
    },
  };
}

/** Others have their turn. */
async function turnOfOthers(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Puts a value last and removes the oldest ones beyond the limit. */
function hold<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}

/** A query as it is encoded: one that is written a little otherwise is the same. */
function plain(query: string): string {
  return query.toLowerCase().split(/\s+/).join(' ').trim().slice(0, TEXT_LENGTH);
}

/** What is encoded of a tool: the words of its name and the beginning of its description. */
function textOf({ name, description }: Tool): string {
  const words = name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/[_\-./:]+/g, ' ');
  return `${words}. ${description}`.slice(0, TEXT_LENGTH);
}

/** A vector in bytes, the largest number 127: only its direction counts. */
function toBytes(vector: ArrayLike<number> | undefined): Int8Array {
  if (!vector || vector.length === 0 || vector.length > MAX_NUMBERS) throw new Error('it gave no vector for a text');
  let largest = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i];
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new Error('it returned a vector with a value that is not a number');
    largest = Math.max(largest, Math.abs(value));
  }
  return Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((127 * value) / largest)));
}

function fromStored(value: unknown): Int8Array | undefined {
  if (typeof value !== 'string' || value.length > 2 * MAX_NUMBERS) return undefined;
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === 0 ? undefined : Int8Array.from(bytes, (byte) => (byte << 24) >> 24);
}

function cosine(a: Int8Array, b: Int8Array): number | undefined {
  if (a.length !== b.length) return undefined;
  let product = 0;
  let first = 0;
  let second = 0;
  for (let i = 0; i < a.length; i++) {
    product += a[i]! * b[i]!;
    first += a[i]! * a[i]!;
    second += b[i]! * b[i]!;
  }
  return first === 0 || second === 0 ? 0 : product / Math.sqrt(first * second);
}
