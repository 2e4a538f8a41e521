/** What becomes of a request to trust something new. */
export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired' | 'superseded';

/**
 * Why an item is not offered for lack of trust: it awaits a decision (`waiting`), it differs from what was trusted
 * (`changed`), a person rejected it (`rejected`), it shows signs of an attack (`suspect`, A11), or the trust record
 * cannot be read (`unreadable`).
 */
export type HoldCause = 'waiting' | 'changed' | 'rejected' | 'suspect' | 'unreadable';

/** How much is at stake, from least to most. */
export type RiskLevel = 'low' | 'medium' | 'high' | 'critical';

/** The level of risk, and why. Advice for the person who decides; it decides nothing by itself. */
export interface Risk {
  readonly level: RiskLevel;
  /** One phrase each, the weightiest first. */
  readonly reasons: readonly string[];
  /** Those of the reasons that only inform: none of them holds anything back. Absent in requests of earlier versions. */
  readonly informs?: readonly string[];
}

/** A reason of a risk, and where in the definition it shows. */
export interface RiskEvidence {
  readonly reason: string;
  /** JSON pointer of the text; absent when the definition as a whole shows it. */
  readonly path?: string;
  /** The words, shortened. */
  readonly text?: string;
}

/** Who decided about an approval, why and when. */
export interface Ruling {
  readonly by: string;
  readonly reason?: string;
  readonly at: number;
}

/**
 * Where a server came from, as far as trust goes: a person configured it (`user`), or it was found in a file of a
 * project, in a registry or by asking a URL, so that its origin is unverified.
 */
export type ServerOrigin = 'user' | 'project' | 'registry' | 'introspected';

/** A request to trust something new or changed: a server as a whole, or one tool of it (SEC-9). */
export interface Approval {
  /** `server` or `server:tool`: how it is named to approve or reject it. */
  readonly ref: string;
  readonly server: string;
  /** Absent when the request is about the server itself: its command, or its own description. */
  readonly tool?: string;
  /** What exactly: how the server is started, how it presents itself, or what a tool is defined as. */
  readonly about: 'launch' | 'instructions' | 'tool';
  readonly state: ApprovalState;
  /** SHA-256 of what is to be trusted; an approval holds for nothing else. */
  readonly hash: string;
  /** SHA-256 of what was trusted before; absent when nothing was. */
  readonly pinned?: string;
  readonly requestedAt: number;
  /**
   * When what was trusted before was last known to be unchanged: when a list had it, or when it was trusted. It changed between
   * then and `requestedAt`.
   */
  readonly confirmedAt?: number;
  readonly ruling?: Ruling;
  /**
   * What a superseded one was before: decided by a person, or trusted at first sight. Absent where it was not decided,
   * and in records of earlier versions.
   */
  readonly was?: 'approved' | 'rejected' | 'trusted';
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
  /** Who is shown the answer, which is remembered (A41): `local` by default, `false` for no one. */
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

/** The change of a tool or of a server's own description. */
export interface ApprovalDiff {
  readonly approval: Approval;
  readonly changes: readonly Change[];
  /** The words that speak against what is there now. */
  readonly evidence?: readonly RiskEvidence[];
  /** Why there is nothing to compare with, where that is so. */
  readonly note?: string;
  /** Calls of the tool, or of all tools of the server, that may have met the change before it was noticed. */
  readonly calls?: CallsMeanwhile;
}

/** Calls between the last time that something was known to be unchanged and the moment at which its change was noticed. */
export interface CallsMeanwhile {
  readonly since: number;
  readonly until: number;
  /** Calls that were sent; refused ones reached no server. */
  readonly count: number;
  /** There are more than were counted. */
  readonly isMore?: true;
}
