import type { Clock, Timer } from '../kernel/clock.js';
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
   * How near tools are to a query, as far as their vectors are known; `undefined` when nothing is known in time. What is missing is
   * made in the background.
   */
  of(query: string, tools: () => Iterable<Tool>): Promise<Encoded | undefined>;
  /** Resolves when the work in the background has come to its end. */
  settled(): Promise<void>;
}

const SPACE = 'encodings';

/** What a query may cost before the search goes on without its vector. */
const QUERY_MS = 50;

/** Texts that are encoded in one go: about a fifth of a second, then others have their turn. */
const BATCH = 16;

/** Tools that are encoded at the most; the largest catalogs go by words. */
const MOST_TOOLS = 20_000;

/** What is encoded of a tool, in characters, and the longest vector that is believed. */
const TEXT_LENGTH = 400;
const MOST_NUMBERS = 4096;

/** An encoding over the store. `encoder` names the configured package; it is loaded when a search first needs it. */
export function createEncoding(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly encoder: () => string | undefined;
  readonly load: ((name: string) => Promise<LoadedEncoder>) | undefined;
}): Encoding {
  const { store, clock, log } = deps;
  let current: string | undefined;
  let loaded: LoadedEncoder | undefined;
  let vectors = new Map<string, Int8Array>();
  let working: Promise<void> | undefined;
  let broken = false;

  function change(name: string): void {
    current = name;
    loaded = undefined;
    vectors = new Map();
    broken = false;
  }

  async function work(name: string, tools: readonly Tool[]): Promise<void> {
    if (!loaded) {
      const ready = await deps.load!(name);
      if (current !== name) return;
      loaded = ready;
    }
    const { id, embed } = loaded;
    const wanted = new Map<string, string>();
    for (const tool of tools.slice(0, MOST_TOOLS)) {
      const text = textOf(tool);
      const key = sha256(`${id}\n${text}`);
      if (!vectors.has(key)) wanted.set(key, text);
    }
    const missing: Array<readonly [string, string]> = [];
    for (const [key, text] of wanted) {
      const kept = fromStored((await store.get(SPACE, key))?.value);
      if (kept) vectors.set(key, kept);
      else missing.push([key, text]);
    }
    for (let begin = 0; begin < missing.length; begin += BATCH) {
      if (current !== name) return;
      const part = missing.slice(begin, begin + BATCH);
      const made = await embed(part.map(([, text]) => text));
      for (const [i, [key]] of part.entries()) {
        const vector = toBytes(made[i]);
        vectors.set(key, vector);
        await store.put(SPACE, key, Buffer.from(vector.buffer).toString('base64'));
      }
      // The encoder computes on this thread: whoever waits has a turn between two batches.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function fill(name: string, tools: Iterable<Tool>): void {
    working ??= work(name, [...tools])
      .catch((thrown: unknown) => {
        if (current === name) broken = true;
        log.warn('search.encoder', { encoder: name, reason: messageOf(thrown) });
      })
      .finally(() => {
        working = undefined;
      });
  }

  return {
    async of(query, tools) {
      const name = deps.encoder();
      if (name === undefined || !deps.load) return undefined;
      if (name !== current) change(name);
      if (broken) return undefined;
      fill(name, tools());
      if (!loaded || vectors.size === 0) return undefined;
      const { id, embed } = loaded;
      const vector = await soon(embed([query.slice(0, TEXT_LENGTH)]).then(([own]) => toBytes(own)));
      if (!vector) return undefined;
      const known = vectors;
      return (tool) => {
        const other = known.get(sha256(`${id}\n${textOf(tool)}`));
        return other ? cosine(vector, other) : undefined;
      };
    },
    async settled() {
      await working;
    },
  };

  /** What a promise gives if it does so soon; one that fails is said and done without. */
  async function soon<T>(promise: Promise<T>): Promise<T | undefined> {
    let timer: Timer | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = clock.after(QUERY_MS, () => resolve(undefined), { awaited: true });
    });
    try {
      return await Promise.race([promise, late]);
    } catch (thrown) {
      log.warn('search.encoder', { encoder: current ?? '', reason: messageOf(thrown) });
      return undefined;
    } finally {
      timer?.cancel();
    }
  }
}

/** What is encoded of a tool: the words of its name and the beginning of its description. */
function textOf({ name, description }: Tool): string {
  const words = name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replace(/[_\-./:]+/g, ' ');
  return `${words}. ${description}`.slice(0, TEXT_LENGTH);
}

/** A vector in bytes, the largest number 127: only its direction counts. */
function toBytes(vector: ArrayLike<number> | undefined): Int8Array {
  if (!vector || vector.length === 0 || vector.length > MOST_NUMBERS) throw new Error('it gave no vector for a text');
  let largest = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i];
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new Error('a vector holds something else than numbers');
    largest = Math.max(largest, Math.abs(value));
  }
  return Int8Array.from(vector, (value) => (largest === 0 ? 0 : Math.round((127 * value) / largest)));
}

function fromStored(value: unknown): Int8Array | undefined {
  if (typeof value !== 'string' || value.length > 2 * MOST_NUMBERS) return undefined;
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
