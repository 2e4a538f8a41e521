import { isInternalHost } from '../../net/address.js';
import type { Clock } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import type { SecretMask } from '../../kernel/secrets.js';
import type { HttpTransport, Server } from '../../model/server.js';
import type { Store } from '../../model/store.js';
import type { BrowserOptions } from './callback.js';
import { createGrants, OAUTH_SPACE, type Grant } from './grants.js';
import type { Interaction } from './flow.js';
import { createSignInSession, type SignInSession } from './session.js';

/** The sign-ins to all remote servers of one process. */
export interface SignIns {
  /** The session of a server; `undefined` for a local one, and where the config or the environment has a credential (CONN-6). */
  session(server: Pick<Server, 'id' | 'transport' | 'origin'>): SignInSession | undefined;
  /** Called after another process signed in, renewed or signed out. */
  onChange(listener: () => void): void;
  /** Removes tokens from a text; it must happen before the text is cut, or half of one stays. */
  hide(text: string): string;
  close(): void;
}

/** What sign-ins are made of. */
export interface SignInDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: SecretMask;
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Lets a refused request lead straight to a sign-in. Without it the refusal says which command to run:
   * an agent that waits for a tool must not open a browser.
   */
  readonly interact?: (server: string, transport: HttpTransport, previous: Grant | undefined) => Promise<Interaction>;
}

function hasAuthorization(transport: HttpTransport): boolean {
  return Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization');
}

/** The hosts of a sign-in that the user wrote down, or approved as they are written. */
function writtenHosts({ transport, origin }: { transport: HttpTransport; origin: Server['origin'] }): string[] {
  const written = [transport.url, transport.auth?.issuer].filter((url) => url !== undefined && URL.canParse(url));
  const hosts = written.map((url) => new URL(url!).hostname);
  return origin === undefined ? hosts : hosts.filter((host) => isInternalHost(host));
}

/** Opens the conversation with a person who has a browser; what it listens with is loaded only then. */
export async function openBrowserInteraction(options: BrowserOptions): Promise<Interaction> {
  return (await import('./callback.js')).openBrowserInteraction(options);
}

/** The sign-ins over one store; a change by another process is noticed. */
export function createSignIns(deps: SignInDeps): SignIns {
  const { store, clock, log, mask, interact } = deps;
  const grants = createGrants({ store, clock, mask });
  const sessions = new Map<string, { readonly of: string; readonly session: SignInSession }>();
  const listeners: Array<() => void> = [];
  const stop = store.onChange((space) => {
    if (space !== OAUTH_SPACE) return;
    for (const { session } of sessions.values()) session.forget();
    for (const listener of listeners) listener();
  });
  return {
    session({ id, transport, origin }) {
      if (transport.type === 'stdio' || hasAuthorization(transport)) return undefined;
      const ownHosts = writtenHosts({ transport, origin });
      const of = JSON.stringify([transport.url, transport.auth, ownHosts]);
      const known = sessions.get(id);
      if (known?.of === of) return known.session;
      const session = createSignInSession({
        scope: { server: id, url: transport.url, ownHosts },
        auth: transport.auth ?? {},
        grants,
        clock,
        log,
        mask: (text) => mask.hideEncoded(text),
        fetch: deps.fetch,
        ...(interact && { interact: (previous: Grant | undefined) => interact(id, transport, previous) }),
      });
      sessions.set(id, { of, session });
      return session;
    },
    onChange: (listener) => void listeners.push(listener),
    hide: (text) => mask.hideEncoded(text),
    close: stop,
  };
}
