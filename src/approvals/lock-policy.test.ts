import { describe, expect, it } from 'vitest';
import type { LockedServer, LockGate } from '../model/lock.js';
import type { Server } from '../model/server.js';
import { holdByLock, judgeByLock } from './lock-policy.js';

const SERVER = { id: 'notes' } as Server;
const TOOL = { name: 'read', definition: { name: 'read' }, categories: [], hash: 'h' };
const PRESENTATION = { isUnknown: false, title: 'Notes', instructions: 'Read notes.' } as Parameters<
  typeof judgeByLock
>[2];

const locked = (verdict: ReturnType<LockedServer['judge']>, isPresentation = true): LockedServer => ({
  judge: () => verdict,
  isPresentation: () => isPresentation,
});
const gateOf = (found: ReturnType<LockGate['server']>, problem?: ReturnType<LockGate['problem']>): LockGate => ({
  problem: () => problem,
  server: () => found,
});
const PROBLEM = { message: 'The lock file cannot be read.', suggestion: 'Write it anew: toolscout lock.' };

describe('where only the lock file counts', () => {
  it('SEC-10 no server starts without a lock file, with one that cannot be used, or when it is missing or launched otherwise', () => {
    const reasonOf = (gate: LockGate | undefined): unknown => holdByLock(gate, SERVER);
    expect(reasonOf(undefined)).toMatchObject({ state: 'pending', reason: 'there is no lock file' });
    expect(reasonOf(gateOf(locked('held'), PROBLEM))).toEqual({
      state: 'pending',
      reason: 'The lock file cannot be read',
      remedy: { kind: 'configure', what: PROBLEM.suggestion },
    });
    const dotted = { ...PROBLEM, message: 'toolscout.lock cannot be read.' };
    expect(reasonOf(gateOf(locked('held'), dotted))).toMatchObject({ reason: 'toolscout.lock cannot be read' });
    expect(reasonOf(gateOf('missing'))).toMatchObject({ reason: 'it is not in the lock file' });
    expect(reasonOf(gateOf('launch'))).toMatchObject({
      reason: 'its command, URL, environment, headers or working directory differs from the lock file',
    });
    expect(reasonOf(gateOf(locked('held')))).toBeUndefined();
  });

  it.each([
    ['there is no lock file', undefined],
    ['the lock file cannot be used', gateOf(locked('held'), PROBLEM)],
    ['the server is not in it', gateOf('missing')],
    ['the server is launched otherwise', gateOf('launch')],
  ])('SEC-10 nothing is offered where %s', (_what, gate) => {
    const judgement = judgeByLock(gate, SERVER, PRESENTATION);
    expect(judgement).toMatchObject({ isPresentable: false, hold: { decidedBy: 'lock' } });
    expect(judgement.judge(TOOL)).toMatchObject({ status: 'pending', hold: { cause: 'waiting' } });
  });

  it('SEC-10 what the lock file holds to the byte is offered, everything else is not', () => {
    const judge = (...of: Parameters<typeof locked>) => {
      const judgement = judgeByLock(gateOf(locked(...of)), SERVER, PRESENTATION);
      return { ...judgement, decision: judgement.judge(TOOL) };
    };
    expect(judge('held')).not.toHaveProperty('hold');
    expect(judge('held')).toMatchObject({ isPresentable: true, decision: { status: 'enabled' } });
    expect(judge('missing').decision).toEqual({
      status: 'pending',
      hold: { cause: 'waiting', reason: 'it is not in the lock file', decidedBy: 'lock' },
    });
    expect(judge('changed').decision).toEqual({
      status: 'quarantined',
      hold: { cause: 'changed', reason: 'its definition differs from the lock file', decidedBy: 'lock' },
    });
    const other = judge('held', false);
    expect(other).toMatchObject({ isPresentable: false, hold: { decidedBy: 'lock' } });
    expect(other.decision).toMatchObject({
      status: 'quarantined',
      hold: { reason: 'the description of its server differs from the lock file' },
    });
  });

  it('SEC-10 a description that is not known yet is no difference', () => {
    const gate = gateOf(locked('held', false));
    const judgement = judgeByLock(gate, SERVER, { ...PRESENTATION, isUnknown: true });
    expect(judgement).toMatchObject({ isPresentable: true });
    expect(judgement).not.toHaveProperty('hold');
    expect(judgement.judge(TOOL)).toEqual({ status: 'enabled' });
  });
});
