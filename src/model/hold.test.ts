import { describe, expect, it } from 'vitest';
import { describeRemedy } from '../kernel/remedy.js';
import { holdOf, remedyOfHold, type ItemHold } from './hold.js';

describe('what can be done about a hold', () => {
  it.each<[ItemHold['decidedBy'], ItemHold['cause'], string]>([
    [undefined, 'waiting', 'toolscout approve notes:read'],
    [undefined, 'suspect', 'toolscout approve notes:read'],
    [undefined, 'unreadable', 'toolscout approve notes:read'],
    [undefined, 'changed', 'toolscout diff notes:read'],
    [undefined, 'rejected', 'To undo that: toolscout diff notes:read'],
    ['server', 'changed', 'toolscout diff notes, then toolscout approve notes'],
    ['lock', 'waiting', 'toolscout lock --diff'],
    ['lock', 'changed', 'toolscout lock --diff'],
    ['newer-record', 'unreadable', 'Update toolscout'],
    ['store', 'unreadable', 'toolscout doctor'],
  ])('SEC-9 names the place where it is decided: %s, %s', (decidedBy, cause, advice) => {
    const remedy = remedyOfHold('notes', 'read', { cause, reason: 'x', ...(decidedBy && { decidedBy }) });
    expect(describeRemedy(remedy)).toContain(advice);
  });

  it('SEC-9 a status alone is a hold as well', () => {
    expect(holdOf({ status: 'enabled' })).toBeUndefined();
    expect(holdOf({ status: 'disabled' })).toBeUndefined();
    expect(holdOf({ status: 'pending' })).toMatchObject({ cause: 'waiting' });
    expect(holdOf({ status: 'quarantined' })).toMatchObject({ cause: 'changed' });
  });
});
