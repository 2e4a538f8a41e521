import type { ToolDetails } from '../api/types.js';
import type { Tone } from '../parts/states.js';

/** What a tool says about its effects; the server writes it, and nothing proves it. */
export function effectsOf({
  destructive,
  readOnly,
}: Pick<ToolDetails, 'destructive' | 'readOnly'>): readonly [words: string, tone: Tone] {
  if (destructive === true) return ['may delete or overwrite', 'bad'];
  if (readOnly === true) return ['says that it only reads', 'quiet'];
  if (readOnly === false) return ['says that it may change something', 'warn'];
  return ['does not say whether it changes anything', 'quiet'];
}
