/** Answers that are being written, by the id of their question; a bounded number of them. */
export interface AskDrafts {
  of(id: string): unknown;
  keep(id: string, value: unknown): void;
  drop(id: string): void;
  clear(): void;
}

/** More questions than a person answers at once. */
const MAX_DRAFTS = 50;

/** No answer yet. */
export function createAskDrafts(limit = MAX_DRAFTS): AskDrafts {
  const drafts = new Map<string, unknown>();
  return {
    of: (id) => drafts.get(id),
    keep(id, value) {
      drafts.delete(id);
      drafts.set(id, value);
      if (drafts.size > limit) drafts.delete(drafts.keys().next().value!);
    },
    drop: (id) => void drafts.delete(id),
    clear: () => drafts.clear(),
  };
}
