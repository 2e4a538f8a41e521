const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What is being written and not saved; it outlives the view. */
export interface Draft<T> {
  readonly value: T | undefined;
  /** Keeps what is written; what is the same as the config is no draft. */
  keep(value: T, config: T): void;
  /** Whether the config has changed since the draft was begun. */
  isOutdated(config: T): boolean;
  drop(): void;
}

/** No draft yet. */
export function createDraft<T>(): Draft<T> {
  let kept: { readonly value: T; readonly begun: T } | undefined;
  return {
    get value() {
      return kept?.value;
    },
    keep(value, config) {
      kept = isSame(value, config) ? undefined : { value, begun: kept?.begun ?? config };
    },
    isOutdated: (config) => kept !== undefined && !isSame(kept.begun, config),
    drop: () => (kept = undefined),
  };
}
