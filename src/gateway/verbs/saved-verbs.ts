import { ToolscoutError } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import { addressOf, newIdAt } from '../../kernel/ids.js';
import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import type { Entry } from '../../model/store.js';
import type { LabelFile, SavedCall, SavedVerbs } from '../contract/saved.js';
import type { Core } from '../core.js';
import { requireVisible } from '../viewer.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

const SPACE = 'saved-calls';
/** Calls that one principal keeps, and the characters of all of them. */
const MAX_CALLS = 200;
const MAX_CHARACTERS = 1024 * 1024;
/** How often a change is tried again that another process came before. */
const TRIES = 5;

const isSaved = (value: unknown): value is SavedCall =>
  isObject(value) &&
  ['id', 'name', 'server', 'tool'].every((field) => typeof value[field] === 'string') &&
  isObject(value['arguments']) &&
  typeof value['savedAt'] === 'number';

/** The valid calls of an entry; a damaged one is left out. */
function callsIn(entry: Entry | undefined): SavedCall[] {
  const calls = isObject(entry?.value) ? entry.value['calls'] : undefined;
  return Array.isArray(calls) ? (calls as unknown[]).filter(isSaved) : [];
}

/** The verbs about what people keep (STUDIO-4, STUDIO-5). */
export function savedVerbs(core: Core): VerbTable<`studio.${keyof SavedVerbs}`> {
  const { store, clock } = core.deps;
  const keyOf = (principal: string): string => sha256(principal);

  const labelFile = (): LabelFile => {
    const { labels } = core.deps;
    if (labels) return labels;
    throw new ToolscoutError(
      'INVALID_REQUEST',
      'Labelled queries need a state directory, and this toolscout has none.',
      {
        suggestion: 'Start it without --state-dir memory.',
      },
    );
  };

  /** Changes the calls of one principal; of two processes that do so at once none loses anything. */
  const change = async (principal: string, edit: (calls: SavedCall[]) => SavedCall[]): Promise<SavedCall[]> => {
    const key = keyOf(principal);
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const entry = await store.get(SPACE, key);
      const calls = edit(callsIn(entry));
      const value = { calls } as unknown as JsonObject;
      if (calls.length > MAX_CALLS || JSON.stringify(value).length > MAX_CHARACTERS) {
        throw new ToolscoutError(
          'INVALID_REQUEST',
          `The call was not saved: at most ${MAX_CALLS} calls with 1 MiB in total can be kept.`,
          {
            suggestion: 'Remove saved calls that are no longer needed, then save this one again.',
          },
        );
      }
      if (await store.put(SPACE, key, value as JsonValue, { ifRevision: entry?.revision ?? 0 })) return calls;
    }
    throw new ToolscoutError('STORE_ERROR', 'The saved calls are being changed by another process.', {
      suggestion: 'Try again.',
    });
  };

  return defineVerbs({
    async 'studio.addLabel'(viewer, { query, server, tool }) {
      await core.filled();
      requireVisible(viewer, server, core.catalog);
      const { name } = core.catalog.tool(server, tool, viewer.sees);
      const label = { id: `studio-${newIdAt(clock.now())}`, query, relevant: [addressOf(server, name)] };
      await labelFile().append(label);
      return label;
    },

    async 'studio.labels'(_viewer) {
      const file = labelFile();
      return { file: file.path, labels: await file.read() };
    },

    async 'studio.savedCalls'({ principal }) {
      return callsIn(await store.get(SPACE, keyOf(principal)));
    },

    async 'studio.saveCalls'({ principal }, calls) {
      const savedAt = clock.now();
      const added = calls.map((call): SavedCall => ({ ...call, id: newIdAt(savedAt), savedAt }));
      await change(principal, (kept) => [...added, ...kept]);
      return added;
    },

    async 'studio.removeSavedCall'({ principal }, id) {
      let isRemoved = false;
      await change(principal, (kept) => {
        isRemoved = kept.some((call) => call.id === id);
        return kept.filter((call) => call.id !== id);
      });
      return isRemoved;
    },
  });
}
