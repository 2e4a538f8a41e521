import { describe, expect, it } from 'vitest';
import type { Approval, PendingCall } from '../../api/types.js';
import { decisionsOf } from './decisions.js';

const request = (over: Partial<Approval>): Approval => ({ ref: 'a:b', hash: 'h', requestedAt: 1, ...over }) as Approval;
const call = (over: Partial<PendingCall>): PendingCall =>
  ({
    id: 'call_1',
    server: 'mail',
    tool: 'send',
    principal: 'local',
    requestedAt: 1,
    expiresAt: 50,
    ...over,
  }) as PendingCall;

describe('decisions', () => {
  it('STUDIO-1 SEC-11 lists requests and calls together, newest first, and none that waits', () => {
    const decided = decisionsOf(
      [
        request({ state: 'pending' }),
        request({ state: 'approved', ruling: { by: 'ada', at: 10 } as Approval['ruling'] }),
        request({ state: 'superseded' as Approval['state'], requestedAt: 5 }),
      ],
      [
        call({ state: 'waiting' }),
        call({ id: 'call_2', state: 'rejected', ruling: { by: 'bob', reason: 'wrong', at: 20, via: 'operator' } }),
        call({ id: 'call_3', state: 'expired', host: 'my-agent' }),
      ],
    );
    expect(decided.map(({ what, state, by, reason, at }) => [what, state, by, reason, at])).toEqual([
      ['call of mail:send by local with my-agent', 'expired', '', '', 50],
      ['call of mail:send by local', 'rejected', 'bob', 'wrong', 20],
      ['a:b', 'approved', 'ada', '', 10],
      ['a:b', 'superseded', '', '', 5],
    ]);
    const abouts = decisionsOf(
      [request({ state: 'approved', server: 'a', tool: 'b' }), request({ state: 'approved', server: 'c' })],
      [call({ state: 'rejected' })],
    ).map(({ about }) => about);
    expect(abouts).toEqual([{ server: 'mail', tool: 'send' }, { server: 'a', tool: 'b' }, { server: 'c' }]);
    const past = decisionsOf(
      [
        request({ state: 'superseded', was: 'approved', ruling: { by: 'ada', at: 3 } }),
        request({ state: 'superseded', was: 'rejected', ruling: { by: 'ada', at: 2 } }),
        request({ state: 'superseded', was: 'trusted' }),
      ],
      [],
    );
    expect(past.map(({ state, by, isReplaced, again }) => [state, by, isReplaced, again])).toEqual([
      ['approved', 'ada', true, undefined],
      ['rejected', 'ada', true, undefined],
    ]);
    const anew = decisionsOf(
      [
        request({ state: 'approved', ruling: { by: 'ada', at: 9 } }),
        request({ state: 'superseded', was: 'rejected', ruling: { by: 'ada', at: 8 } }),
        request({ state: 'superseded', was: 'approved', hash: 'h0', ruling: { by: 'ada', at: 7 } }),
        request({ state: 'superseded', was: 'approved', ref: 'a:c', ruling: { by: 'ada', at: 6 } }),
      ],
      [],
    );
    expect(anew.map(({ isReplaced, isRevised }) => [isReplaced, isRevised])).toEqual([
      [false, undefined],
      [true, true],
      [true, undefined],
      [true, undefined],
    ]);
    expect(new Set(decided.map(({ id }) => id)).size).toBe(4);
    const over = decisionsOf(
      [],
      [
        call({ state: 'expired', was: 'rejected', ruling: { by: 'bob', at: 3, via: 'operator' } }),
        call({ state: 'expired', was: 'approved', ruling: { by: 'ada', at: 2, via: 'operator' } }),
      ],
    );
    expect(over.map(({ state, by, at, isUnused }) => [state, by, at, isUnused])).toEqual([
      ['rejected', 'bob', 3, undefined],
      ['approved', 'ada', 2, true],
    ]);
    // Only a request that was rejected can be approved after all; a call was made or not.
    const rejected = decisionsOf([request({ state: 'rejected' })], [call({ state: 'rejected' })]);
    expect(rejected.map(({ again }) => again)).toEqual([undefined, { ref: 'a:b', hash: 'h' }]);
  });

  it('STUDIO-1 SEC-9 offers to take back what is approved now, and nothing else', () => {
    const ruling = { by: 'ada', at: 3 };
    const decided = decisionsOf(
      [
        request({ about: 'tool', state: 'approved', ruling }),
        request({ about: 'instructions', state: 'approved', ruling }),
        request({ about: 'tool', state: 'superseded', was: 'approved', ruling }),
        request({ about: 'tool', state: 'rejected', ruling }),
      ],
      [call({ state: 'rejected', arguments: { id: 7 } })],
    );
    expect(decided.map(({ revocable }) => revocable).filter(Boolean)).toEqual([{ ref: 'a:b', hash: 'h' }]);
    expect(decided[0]!.args).toEqual({ id: 7 });
  });
});
