import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Store } from '../model/store.js';

/** A server that was proposed and is not configured. */
export interface Registration {
  readonly id: string;
  /** As it would stand in a config. */
  readonly entry: JsonObject;
  readonly origin: 'registry' | 'introspected';
  readonly by: string;
  readonly at: number;
}

/** Servers that were registered, whether approved or not; they live in the store, not in a config (SEC-9). */
export interface Registrations {
  /** Sorted by id. */
  list(): Promise<Registration[]>;
  /** Adds or replaces one; durable when it resolves. */
  put(registration: Registration): Promise<void>;
  /** Whether there was one. */
  remove(id: string): Promise<boolean>;
}

/** The space that holds them; a change of it in another process is a change of the servers there are. */
export const REGISTRATIONS = 'servers';

function asRegistration(value: JsonValue): Registration | undefined {
  if (!isObject(value)) return undefined;
  const { id, entry, origin, by, at } = value;
  if (typeof id !== 'string' || !isObject(entry) || typeof by !== 'string' || typeof at !== 'number') return undefined;
  return origin === 'registry' || origin === 'introspected' ? { id, entry, origin, by, at } : undefined;
}

/** Registered servers over a store. */
export function createRegistrations({ store }: { readonly store: Store }): Registrations {
  return {
    async list() {
      const entries = await store.list(REGISTRATIONS);
      return entries
        .map(({ value }) => asRegistration(value))
        .filter((registration) => registration !== undefined)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
    async put(registration) {
      await store.put(REGISTRATIONS, sha256(registration.id), { ...registration });
    },
    remove: (id) => store.delete(REGISTRATIONS, sha256(id)),
  };
}
