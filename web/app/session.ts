import { signal } from '@preact/signals';
import { csrfToken, refusedSignIns, send } from '../api/http.js';
import { asApiError } from '../api/problem.js';

/** Who the page speaks for. */
export interface Session {
  readonly signedIn: boolean;
  readonly required: boolean;
  readonly principal?: string;
  readonly scopes: readonly string[];
  readonly csrf?: string;
  readonly methods?: readonly string[];
}

/** Who the page speaks for; `undefined` until it is known. */
export const session = signal<Session | undefined>(undefined);

/** Asks who the page speaks for. */
export async function readSession(): Promise<void> {
  try {
    session.value = await send<Session>('/v1/session');
  } catch (thrown) {
    const error = asApiError(thrown);
    if (error.isOffline) return;
    session.value = {
      signedIn: error.status !== 401,
      required: error.status === 401,
      scopes: ['read', 'call', 'admin'],
      methods: ['key'],
    };
  }
  csrfToken.value = session.value?.csrf;
}

/** Signs in with a key. */
export async function signInWithKey(key: string): Promise<void> {
  await send('/v1/session', { body: { key } });
  await readSession();
}

/** Signs out: the session ends at the server, not only here. */
export async function signOut(): Promise<void> {
  await send('/v1/session', { method: 'DELETE' });
  csrfToken.value = undefined;
  await readSession();
}

/** Whether the page may change things. */
export function isAdmin(): boolean {
  return session.value?.scopes.includes('admin') ?? false;
}

/** Watches for answers that ask to sign in. */
export function startSession(): () => void {
  return refusedSignIns.subscribe(() => void readSession());
}
