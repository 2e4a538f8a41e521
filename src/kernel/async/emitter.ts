/** A listener list with typed events; a listener that throws does not affect the others. */
export interface Emitter<Event> {
  emit(event: Event): void;
  /** Adds a listener; the answer removes it. */
  on(listener: (event: Event) => void): () => void;
}

/** An emitter that reports a throwing listener to `onError`. */
export function createEmitter<Event>(onError: (thrown: unknown) => void = () => {}): Emitter<Event> {
  const listeners = new Set<(event: Event) => void>();
  return {
    emit(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (thrown) {
          onError(thrown);
        }
      }
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
