/** How the person who signs in is reached. */
export interface SignInOptions {
  /** Shows a page; the address is safe to hand to a browser, and must not go through a shell. */
  readonly open: (url: string) => void | Promise<void>;
  /** Asks for the address the browser ended at, where the browser runs on another machine. */
  readonly paste?: (signal: AbortSignal) => Promise<string>;
  /** Scopes to ask for beside those of the config. */
  readonly scopes?: readonly string[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What may be shown of a sign-in: never a token. */
export interface SignInStatus {
  readonly server: string;
  /**
   * `configured`: the config or the environment has a credential, which is used; `unusable`: it is to have one, but the
   * server cannot be used as it is; `local`: nothing to sign in to.
   */
  readonly state: 'signed-in' | 'expired' | 'signed-out' | 'configured' | 'unusable' | 'local';
  /** Why the server cannot be used, where that is so: a variable that is not set, or an approval that is missing. */
  readonly problem?: string;
  readonly issuer?: string;
  readonly resource?: string;
  readonly scopes?: readonly string[];
  /** Scopes the server asked for that were not granted. */
  readonly missingScopes?: readonly string[];
  /** Wall-clock time at which the token ends. */
  readonly expiresAt?: number;
  /** Whether it is renewed without a person. */
  readonly renewable?: boolean;
}
