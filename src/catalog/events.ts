import type { PoolEvent } from '../connect/index.js';
import type { Approval } from '../model/approval.js';
import type { Changes } from './changes.js';

/** A change of what is known or trusted, or of a connection. */
export type CatalogEvent =
  | PoolEvent
  | { readonly type: 'learned'; readonly server: string; readonly tools: number; readonly changed: Changes }
  | { readonly type: 'learn-failed'; readonly server: string; readonly reason: string }
  | { readonly type: 'approval'; readonly approval: Approval }
  /** Which tools of a server are offered may be different now. */
  | { readonly type: 'reconsidered'; readonly server: string };
