import type { RequestId } from './legacy-session.js';

/** What a modern host on one connection listens to. */
export interface Listens {
  /** It begins to listen (`params`), or ends to (`undefined`). */
  onListen(id: RequestId, params: unknown): void;
  /** From now on subscriptions can be served; earlier ones are started. */
  begin(watch: (params: unknown) => () => void): void;
  end(): void;
}

/** A host may subscribe with its first message, before its subscriptions can be served. */
export function createListens(): Listens {
  const running = new Map<RequestId, () => void>();
  const early = new Map<RequestId, unknown>();
  let watch: ((params: unknown) => () => void) | undefined;
  return {
    onListen(id, params) {
      running.get(id)?.();
      running.delete(id);
      early.delete(id);
      if (params === undefined) return;
      if (watch) running.set(id, watch(params));
      else early.set(id, params);
    },
    begin(given) {
      watch = given;
      for (const [id, params] of early) running.set(id, given(params));
      early.clear();
    },
    end() {
      for (const stop of running.values()) stop();
    },
  };
}
