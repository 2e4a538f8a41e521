import { expect, it } from 'vitest';
import { createDraft } from './rule-draft.js';

const rule = (pattern: string) => ({ pattern, enabled: false });

it('STUDIO-8 keeps rules that are written but not saved, and knows that the config changed meanwhile', () => {
  const draft = createDraft();
  expect(draft.rules).toBeUndefined();
  draft.keep([rule('wait')], []);
  draft.keep([rule('wait_*')], []);
  expect([draft.rules, draft.isOutdated([])]).toEqual([[rule('wait_*')], false]);
  expect(draft.isOutdated([rule('other')])).toBe(true);
  // What is written back to what the config says is no draft.
  draft.keep([rule('other')], [rule('other')]);
  expect([draft.rules, draft.isOutdated([])]).toEqual([undefined, false]);
  draft.keep([rule('a')], []);
  draft.drop();
  expect(draft.rules).toBeUndefined();
});
