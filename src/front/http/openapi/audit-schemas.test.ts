import { expect, it } from 'vitest';
import { AuditRecord } from './audit-schemas.js';

it('REG-8 A48 R20 a record with an outcome or an era of a newer version is shown', () => {
  const record = { id: 'a', time: 1, kind: 'new', principal: 'p', outcome: 'new', era: 'new' };
  expect(AuditRecord.parse(record)).toMatchObject({ id: 'a', kind: 'new', outcome: 'failure' });
  expect(AuditRecord.parse({ ...record, outcome: 'waiting', era: 'modern' })).toMatchObject({
    outcome: 'waiting',
    era: 'modern',
  });
});
