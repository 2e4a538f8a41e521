import { expect, it } from 'vitest';
import type { RuleConfig } from '../api/types.js';
import { createDraft } from './draft.js';

const rule = (pattern: string) => ({ pattern, enabled: false });

it('STUDIO-8 keeps rules that are written but not saved, and knows that the config changed meanwhile', () => {
  const draft = createDraft<readonly RuleConfig[]>();
  expect(draft.value).toBeUndefined();
  draft.keep([rule('wait')], []);
  draft.keep([rule('wait_*')], []);
  expect([draft.value, draft.isOutdated([])]).toEqual([[rule('wait_*')], false]);
  expect(draft.isOutdated([rule('other')])).toBe(true);
  // What is written back to what the config says is no draft.
  draft.keep([rule('other')], [rule('other')]);
  expect([draft.value, draft.isOutdated([])]).toEqual([undefined, false]);
  draft.keep([rule('a')], []);
  draft.drop();
  expect(draft.value).toBeUndefined();
});

it('STUDIO-8 keeps the text of a file that is written but not saved', () => {
  const draft = createDraft<string>();
  draft.keep('{ "a": 1 }', '{}');
  expect([draft.value, draft.isOutdated('{}'), draft.isOutdated('{ }')]).toEqual(['{ "a": 1 }', false, true]);
  draft.keep('{}', '{}');
  expect(draft.value).toBeUndefined();
});
