import type { Scope } from './principal.js';

/**
 * The caller, and what it sees. Every verb of the gateway takes one. Further rights of one person (grants for single
 * tools, credentials of their own) belong here.
 */
export interface Viewer {
  /** The name, as it stands in the audit log. */
  readonly principal: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Whether there may be servers or tools that they do not see. */
  readonly isLimited: boolean;
  /**
   * Whether a server, or a tool of it, is visible to the viewer (S12). Names decide, so the answer does not reveal what
   * exists.
   */
  sees(server: string, tool?: string): boolean;
  /** The skill that asks, and for whom. What the caller sees and no binding of the skill covers is forbidden (NEG-5). */
  readonly skill?: { readonly id: string; readonly caller: Viewer };
}
