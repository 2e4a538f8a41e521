import type { Approval, Json, PendingCall } from '../../api/types.js';
import { whoOf } from '../../text/who.js';

/** The decision about a request or a call, or that none was made in time. */
export interface Decision {
  readonly id: string;
  readonly what: string;
  /** The tool or the server that it is about. */
  readonly about: { readonly server: string; readonly tool?: string };
  /** The request that can be approved after all. */
  readonly again?: { readonly ref: string; readonly hash: string };
  /** The approval that can be taken back. */
  readonly revocable?: { readonly ref: string; readonly hash: string };
  /** What a call would have been made with. */
  readonly args?: Json;
  readonly state: Approval['state'] | PendingCall['state'];
  /** Something newer took its place after it was decided. */
  readonly isReplaced: boolean;
  /** The same, unchanged, was decided again later. */
  readonly isRevised?: boolean;
  /** A yes to a call that nobody made in time. */
  readonly isUnused?: boolean;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
}

/** Whether exactly this was decided again later. */
function isRevised(one: Approval, all: readonly Approval[]): boolean {
  const at = one.ruling?.at;
  return (
    at !== undefined &&
    all.some(
      ({ ref, about, hash, ruling }) =>
        ref === one.ref && about === one.about && hash === one.hash && ruling !== undefined && ruling.at > at,
    )
  );
}

/** Requests and calls that wait no longer, the newest decision first. */
export function decisionsOf(approvals: readonly Approval[], calls: readonly PendingCall[]): Decision[] {
  const requests = approvals
    // What was trusted at first sight was neither asked for nor decided.
    .filter(({ state, was }) => state !== 'pending' && was !== 'trusted')
    .map((one): Decision => {
      const { ref, about, hash, server, tool, state, was, ruling, requestedAt } = one;
      return {
        id: `${ref} ${about} ${hash} ${state} ${ruling?.at ?? requestedAt}`,
        what: ref,
        about: { server, ...(tool !== undefined && { tool }) },
        ...(state === 'rejected' && { again: { ref, hash } }),
        // The description of a server has no approval apart from its own.
        ...(state === 'approved' && about !== 'instructions' && { revocable: { ref, hash } }),
        state: was === 'approved' || was === 'rejected' ? was : state,
        isReplaced: was !== undefined,
        ...(was !== undefined && isRevised(one, approvals) && { isRevised: true }),
        by: ruling?.by ?? '',
        reason: ruling?.reason ?? '',
        at: ruling?.at ?? requestedAt,
      };
    });
  const answered = calls
    .filter(({ state }) => state !== 'waiting')
    .map(({ id, server, tool, principal, host, state, was, ruling, expiresAt, arguments: args }): Decision => ({
      id,
      what: `call of ${server}:${tool} by ${whoOf({ principal, host })}`,
      about: { server, tool },
      args: args as Json,
      // A decision stays what it was when its time is over.
      state: was ?? state,
      isReplaced: false,
      ...(was === 'approved' && { isUnused: true }),
      by: ruling?.by ?? '',
      reason: ruling?.reason ?? '',
      at: ruling?.at ?? expiresAt,
    }));
  return [...requests, ...answered].toSorted((a, b) => b.at - a.at);
}
