/** What a caller may be allowed: to look, to run tools, to administer. */
export const SCOPES = ['read', 'call', 'admin'] as const;

/** See {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

/** A caller, and what they may see and do (S12). */
export interface Principal {
  /** As it stands in the audit log. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The only servers they see and call; all of them when absent. */
  readonly servers?: ReadonlySet<string>;
  /** What let them in, by a name that gives nothing of it away; two keys of one holder are two. */
  readonly credential?: string;
  /** When what let them in expires, in milliseconds since 1970. */
  readonly until?: number;
  /** The session of the browser they came with; `csrf` is what its page must send along with every change (STUDIO-6). */
  readonly session?: { readonly id: string; readonly csrf: string };
}

/** The owner of a toolscout on their own machine. */
export const LOCAL: Principal = { name: 'local', scopes: new Set(SCOPES) };

/** Whether a principal has a scope: who may administer may call, and who may call may look. */
export function hasScope({ scopes }: Pick<Principal, 'scopes'>, wanted: Scope): boolean {
  for (let at = SCOPES.indexOf(wanted); at < SCOPES.length; at++) if (scopes.has(SCOPES[at]!)) return true;
  return false;
}
