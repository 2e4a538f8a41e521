import { describe, expect, it } from 'vitest';
import type { PendingCall } from '../../api/types.js';
import { confirmText, destructiveText, standingCall, warnsFirst } from './standing-call.js';

const CALL = { server: 'notes', tool: 'drop', principal: 'local', args: { id: 7, to: { b: 1, a: 2 } } };
const pending = (more: Partial<PendingCall> = {}): PendingCall =>
  ({
    id: 'call_1',
    argumentsHash: 'x',
    route: 'http',
    rule: 'rule 1',
    state: 'approved',
    requestedAt: 1,
    expiresAt: 100,
    server: 'notes',
    tool: 'drop',
    principal: 'local',
    arguments: { to: { a: 2, b: 1 }, id: 7 },
    ...more,
  }) as PendingCall;

describe('a call that was decided about', () => {
  it('STUDIO-1 SEC-11 is known by its caller, tool and exact arguments, until it expires', () => {
    expect(standingCall([pending()], CALL, 50)?.id).toBe('call_1');
    expect(standingCall([pending()], CALL, 100)).toBeUndefined();
    for (const other of [
      { principal: 'ann' },
      { skill: 'tidy' },
      { tool: 'read' },
      { state: 'used' as const },
      { arguments: { id: 8 } },
    ]) {
      expect(standingCall([pending(other)], CALL, 50)).toBeUndefined();
    }
  });

  it('STUDIO-1 SEC-11 the tool does not announce a question that does not come', () => {
    const confirm = { asks: 'always' as const, rule: 'rule 1' };
    expect(confirmText(confirm, undefined)).toBe('toolscout asks you for a yes before the call is sent.');
    expect(confirmText(confirm, pending())).toMatch(/^This call is approved until [\d:]+: it is sent at once\.$/);
    expect(confirmText(confirm, pending({ state: 'rejected' }))).toMatch(
      /^This call was rejected: it is refused until/,
    );
    expect(destructiveText(confirm, pending())).not.toContain('asks');
    expect(destructiveText(undefined, undefined)).toMatch(/called when you press the button again\.$/);
    expect(destructiveText({ ...confirm, asks: 'when' }, undefined)).toContain('may ask you for a yes first');
  });

  it('STUDIO-1 SEC-11 one yes is enough for a destructive call: the form warns only where nothing else asks', () => {
    const confirm = { asks: 'always' as const, rule: 'rule 1' };
    const isKnown = true;
    expect(warnsFirst({ destructive: true }, { standing: undefined, isKnown })).toBe(true);
    expect(warnsFirst({ destructive: true, confirm }, { standing: undefined, isKnown })).toBe(false);
    expect(warnsFirst({ destructive: true, confirm }, { standing: undefined, isKnown: false })).toBe(true);
    expect(
      warnsFirst({ destructive: true, confirm: { ...confirm, asks: 'when' } }, { standing: undefined, isKnown }),
    ).toBe(true);
    expect(
      warnsFirst({ destructive: true, confirm: { ...confirm, asks: 'when' } }, { standing: pending(), isKnown }),
    ).toBe(false);
    expect(warnsFirst({ confirm }, { standing: undefined, isKnown })).toBe(false);
  });
});
