import { describe, expect, it } from 'vitest';
import { AUDIT_KINDS } from '../../../src/model/audit-record.js';
import { KINDS, kindWord, routeWord } from './audit-words.js';

describe('words of the audit log', () => {
  it('STUDIO-1 has a word for every kind, so that each can be filtered', () => {
    expect(KINDS.map(([kind]) => kind).toSorted()).toEqual(AUDIT_KINDS.toSorted());
    expect(kindWord('session-end')).toBe('session ended');
    expect(kindWord('constructor')).toBe('constructor');
  });

  it('STUDIO-1 names the front that asked', () => {
    expect([routeWord('mcp'), routeWord('library')]).toEqual(['MCP host', 'library']);
  });
});
