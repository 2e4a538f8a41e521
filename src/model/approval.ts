/** What becomes of a request to trust something new. */
export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired' | 'superseded';

/**
 * Why something is not offered, as far as trust goes: nobody has decided about it (`waiting`), it is not what was trusted any
 * more (`changed`), a person said no (`rejected`), it shows signs of an attack (`suspect`, A11), or the record of what was
 * trusted is not to be had (`unreadable`).
 */
export type HoldCause = 'waiting' | 'changed' | 'rejected' | 'suspect' | 'unreadable';

/** How much is at stake, from least to most. */
export type RiskLevel = 'low' | 'medium' | 'high' | 'critical';

/** How much is at stake, and why. Advice for whoever decides; it decides nothing by itself. */
export interface Risk {
  readonly level: RiskLevel;
  /** One phrase each, the weightiest first. */
  readonly reasons: readonly string[];
}

/** Who decided about an approval, why and when. */
export interface Ruling {
  readonly by: string;
  readonly reason?: string;
  readonly at: number;
}

/**
 * Where a server came from, as far as trust goes: a person configured it (`user`), or it was found in
 * a file of a project, in a registry or by asking a URL, which nobody has vouched for.
 */
export type ServerOrigin = 'user' | 'project' | 'registry' | 'introspected';

/** A request to trust something new or changed: a server as a whole, or one tool of it (SEC-9). */
export interface Approval {
  /** `server` or `server:tool`: how it is named to approve or reject it. */
  readonly ref: string;
  readonly server: string;
  /** Absent when the server itself is what waits: its command, or what it says of itself. */
  readonly tool?: string;
  /** What exactly: how the server is started, how it presents itself, or what a tool is defined as. */
  readonly about: 'launch' | 'instructions' | 'tool';
  readonly state: ApprovalState;
  /** SHA-256 of what is to be trusted; an approval holds for nothing else. */
  readonly hash: string;
  /** SHA-256 of what was trusted before; absent when nothing was. */
  readonly pinned?: string;
  readonly requestedAt: number;
  readonly ruling?: Ruling;
  readonly risk: Risk;
  /** Top-level fields that differ from what was trusted before. */
  readonly changed: readonly string[];
  readonly origin: ServerOrigin;
  /** The whole command or URL of the server, as written, credentials masked; never shortened (S25). */
  readonly target: string;
}

/** Which approvals are wanted. */
export interface ApprovalFilter {
  readonly server?: string;
  readonly state?: ApprovalState;
  /** Who is shown the answer, which is remembered (A41): `local` by default, `false` for nobody. */
  readonly shownTo?: string | false;
}

/** One difference between what was trusted and what is there now. */
export interface Change {
  /** JSON pointer into the definition, e.g. `/inputSchema/properties/path/type`. */
  readonly path: string;
  /** JSON text; absent when it was not there. */
  readonly before?: string;
  /** JSON text; absent when it is gone. */
  readonly after?: string;
}

/** What changed of a tool or of what a server says of itself. */
export interface ApprovalDiff {
  readonly approval: Approval;
  readonly changes: readonly Change[];
  /** Why there is nothing to compare with, where that is so. */
  readonly note?: string;
}
