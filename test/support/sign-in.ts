import { onTestFinished } from 'vitest';
import { createSignIns, openBrowserInteraction, openUpstream } from '../../src/connect/index.js';
import type { SignInSession } from '../../src/connect/oauth/session.js';
import { systemClock, type Clock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';
import { createSecretMask } from '../../src/kernel/secrets.js';
import type { AuthConfig } from '../../src/model/config.js';
import type { Store } from '../../src/model/store.js';
import type { Upstream } from '../../src/model/upstream.js';
import { createMemoryStore } from '../../src/store/index.js';
import { browse } from './authorization-server.js';
import { httpServer } from './test-server.js';

/** One process that signs in to one server. */
export interface SignedIn {
  readonly session: SignInSession;
  readonly store: Store;
  /** Signs in with an unattended browser. */
  signIn(options?: {
    readonly open?: (url: string) => Promise<void>;
    readonly scope?: string;
    readonly port?: number;
  }): Promise<void>;
  /** Connects to the server, with the token of the sign-in. */
  connect(): Promise<Upstream>;
}

/** The sign-in to one server, with a store of its own unless one is handed in. */
export function signInTo(
  url: string,
  options: { readonly id?: string; readonly auth?: AuthConfig; readonly store?: Store; readonly clock?: Clock } = {},
): SignedIn {
  const clock = options.clock ?? systemClock;
  const store = options.store ?? createMemoryStore({ clock });
  const signIns = createSignIns({ store, clock, log: silentLog, mask: createSecretMask() });
  onTestFinished(() => signIns.close());
  const server = httpServer(options.id ?? 'notes', url, { transport: options.auth ? { auth: options.auth } : {} });
  const session = signIns.session(server)!;
  return {
    session,
    store,
    async signIn({ open, scope, port } = {}) {
      const interaction = await openBrowserInteraction({
        server: server.id,
        clock: systemClock,
        timeoutMs: 20_000,
        ...(port !== undefined && { port }),
        open: open ?? (async (page) => void (await browse(page))),
      });
      onTestFinished(() => interaction.close());
      await session.signIn({ interaction, ...(scope !== undefined && { scope }) });
    },
    async connect() {
      const upstream = await openUpstream(server, {
        clock: systemClock,
        log: silentLog,
        signIns,
        verdicts: { recall: async () => undefined, remember: async () => undefined },
        children: {
          spawn: () => Promise.reject(new Error('nothing is started here')),
          count: 0,
          closeAll: async () => undefined,
        },
        baseEnv: {},
        clientInfo: { name: 'test', version: '1' },
      });
      onTestFinished(() => upstream.close());
      return upstream;
    },
  };
}
