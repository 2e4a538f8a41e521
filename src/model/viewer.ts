import type { Scope } from './principal.js';

/**
 * Who asks, and what there is for them. Every verb of the gateway is handed one. What one person may have besides (grants for
 * single tools, credentials of their own) belongs here.
 */
export interface Viewer {
  /** The name, as it stands in the audit log. */
  readonly principal: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Whether there may be servers or tools that they do not see. */
  readonly isLimited: boolean;
  /** Whether a server, or a tool of it, is there for them (S12). Names decide, so the answer tells nothing about what exists. */
  sees(server: string, tool?: string): boolean;
  /** The skill that asks, and for whom. What the caller sees and no binding of the skill covers is forbidden (NEG-5). */
  readonly skill?: { readonly id: string; readonly caller: Viewer };
}
