import { useState } from 'preact/hooks';

/**
 * State that begins anew with another key. An effect that resets state runs after the page is drawn, and would undo what
 * a person did until then.
 */
export function useKeyedState<T>(key: string, initial: T): readonly [value: T, set: (value: T) => void] {
  const [kept, keep] = useState({ key, value: initial });
  return [kept.key === key ? kept.value : initial, (value) => keep({ key, value })];
}
