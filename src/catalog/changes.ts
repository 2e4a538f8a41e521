import { hashJson } from '../kernel/hash.js';
import type { JsonObject } from '../kernel/json.js';
import type { LearnedList } from './catalog.js';

/** Which lists of a server are other than they were. */
export interface Changes {
  readonly tools: boolean;
  readonly resources: boolean;
  readonly prompts: boolean;
}

function differ(before: readonly JsonObject[] = [], after: readonly JsonObject[] = []): boolean {
  if (before === after || (before.length === 0 && after.length === 0)) return false;
  return before.length !== after.length || hashJson([...before]) !== hashJson([...after]);
}

/** What a fresh look at a server has changed; a server never seen before has changed nothing but what it has. */
export function changesBetween(before: LearnedList | undefined, after: LearnedList | undefined): Changes {
  return {
    tools: differ(before?.items, after?.items),
    resources:
      differ(before?.resources, after?.resources) || differ(before?.resourceTemplates, after?.resourceTemplates),
    prompts: differ(before?.prompts, after?.prompts),
  };
}
