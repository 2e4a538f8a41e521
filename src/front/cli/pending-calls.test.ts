import { describe, expect, it } from 'vitest';
import type { PendingCall } from '../../model/pending-call.js';
import { describeCall, isCallId } from './pending-calls.js';
import { createTerminal } from './terminal.js';

const terminal = createTerminal({ stdout: { write: () => true }, stderr: { write: () => true }, plain: true });
const NOW = 10_000_000;
const WAITING: PendingCall = {
  id: 'call_0123456789ab',
  server: 'notes',
  tool: 'delete_note',
  arguments: { id: 7 },
  argumentsHash: 'a'.repeat(64),
  principal: 'local',
  route: 'mcp',
  rule: 'rule 1 (pattern "delete_*")',
  scope: 'call',
  state: 'waiting',
  requestedAt: NOW - 120_000,
  expiresAt: NOW + 150_000,
};
const shown = (call: Partial<PendingCall>): string => describeCall({ ...WAITING, ...call }, terminal, NOW).join('\n');

describe('a call that waits for a confirmation', () => {
  it('SEC-11 is shown with its caller, rule and arguments, and how to decide', () => {
    expect(shown({})).toBe(
      [
        'call_0123456789ab  a call of notes:delete_note  2 min ago',
        '  by local, asked for by rule 1 (pattern "delete_*")',
        '  arguments {"id":7}',
        '  → toolscout approve call_0123456789ab   toolscout reject call_0123456789ab   (3 min left)',
      ].join('\n'),
    );
    expect(shown({ scope: 'tool' })).toContain(
      '\n  a yes covers every call of this tool by this caller, for 30 days\n',
    );
    expect(shown({ skill: 'fire-watch' })).toContain('by local (skill fire-watch)');
    // One that is about to expire still has its last minute.
    expect(shown({ expiresAt: NOW - 1 })).toContain('(1 min left)');
  });

  it('SEC-11 once it is decided, who did it and why takes the place of the commands', () => {
    const ruling = { by: 'ada', at: NOW - 5000, via: 'operator' } as const;
    const approved = shown({ state: 'approved', ruling });
    expect(approved).toMatch(/approved by ada, 5 s ago$/);
    expect(approved).not.toContain('toolscout approve');
    expect(shown({ state: 'rejected', ruling: { ...ruling, reason: 'not\nthis one' } })).toMatch(
      /rejected by ada: not.{1,3}this one, 5 s ago$/,
    );
  });

  it('SEC-11 A11 arguments neither fill the terminal nor steer it', () => {
    const long = shown({ arguments: { text: 'x'.repeat(5000) } });
    expect(long).toMatch(/x{1900,1990}…\n/);
    expect(shown({ arguments: { text: '\u001b[2J\n  approved by root' } }).split('\n')).toHaveLength(4);
  });

  it('SEC-11 its id differs from the names of servers and tools', () => {
    expect(
      ['call_0123456789ab', 'call_', 'call_0123456789abc', 'notes:call', 'CALL_0123456789ab'].map(isCallId),
    ).toEqual([true, false, false, false, false]);
  });
});
