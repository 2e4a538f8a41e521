import type { Approval } from '../../model/approval.js';
import type { Review } from './exports.js';

/** A server as a caller proposes it. */
export interface ProposedServer {
  readonly id: string;
  readonly url?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly title?: string;
}

/** What a URL turned out to be: enough to propose it, nothing that speaks to a model. */
export interface Candidate {
  /** What `servers.register` takes. */
  readonly proposal: ProposedServer;
  readonly protocolVersion: string;
  /** Names of its tools, without characters that are invalid in a name; descriptions are shown only to approvers. */
  readonly tools: readonly string[];
  readonly dropped: number;
  /** The request that a person decides about; nothing of the server is used before. */
  readonly approval: Approval;
  /** The RTFS files to review. */
  readonly review?: Review;
  /** Why there are no files to review. */
  readonly problem?: string;
}

/** What is introspected: a URL, or a server that is registered and not approved yet. */
export type IntrospectionTarget = { readonly url: string; readonly id?: string } | { readonly server: string };
