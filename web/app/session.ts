import { signal } from '@preact/signals';
import { csrfToken, refusedSignIns, send } from '../api/http.js';
import { ApiError, asApiError } from '../api/problem.js';
import { reopenEvents } from './live.js';
import { tellError } from './notices.js';
import { forgetAnswers } from './resource.js';
import { goTo, route } from './router.js';
import type { SessionState } from '../api/types.js';
import { withOwnFlags } from '../text/commands.js';

/** Who the page speaks for; `undefined` until it is known. */
export const session = signal<SessionState | undefined>(undefined);

/** Why it is not known who the page speaks for. */
export const problem = signal<ApiError | undefined>(undefined);

/** Asks who the page speaks for. */
export async function readSession(): Promise<void> {
  try {
    session.value = await send<SessionState>('/v1/session');
  } catch (thrown) {
    // Away, or not to be asked now: the page goes on asking.
    if (session.value === undefined) problem.value = asApiError(thrown);
    return;
  }
  problem.value = undefined;
  csrfToken.value = session.value?.csrf;
}

/** Signs in with a key. */
export async function signInWithKey(key: string): Promise<void> {
  await send('/v1/session', { body: { key } });
  await readSession();
}

/** Signs in with the code in an address of `toolscout studio`, and takes it out of the address bar and the history. */
async function signInWithCode(code: string): Promise<void> {
  goTo('#/home', { replace: true });
  try {
    await send('/v1/session', { body: { code } });
  } catch (thrown) {
    const { status, problem: said } = asApiError(thrown);
    if (status !== 401) throw thrown;
    // The command is that of this toolscout, which the session tells.
    if (session.value === undefined) await readSession();
    throw new ApiError(status, { ...said, suggestion: howToGetCode() });
  }
  await readSession();
}

/** Signs out: the session ends at the server, not only here. */
export async function signOut(): Promise<void> {
  await send('/v1/session', { method: 'DELETE' });
  csrfToken.value = undefined;
  forgetAnswers();
  // The server ends the streams of the session: that is not an outage.
  reopenEvents();
  await readSession();
}

/** Whether the page may read what only administrators read. */
export function seesAsAdmin(): boolean {
  return session.value?.scopes.includes('admin') ?? false;
}

/** Whether the page may change things. */
export function isAdmin(): boolean {
  return session.value?.mayAdminister ?? false;
}

/** What a person who may not change things may do. */
export function whatIsAllowed(): string {
  const may = session.value?.scopes.includes('call') ? 'You can look and run tools' : 'You can look';
  return `${may}, but not change anything.`;
}

/** A command, or a text that names some, as it must be typed to reach the toolscout of this page. */
export function asOwn(text: string): string {
  return withOwnFlags(text, { ...session.value, port: globalThis.location?.port ?? '' });
}

/** State in memory is open to no command. */
const START_AS_ADMIN = 'This toolscout keeps its state in memory: start it with `--admin` to change things here.';

/** The command that signs a person in; `undefined` where none does. */
export function signInCommand(): string | undefined {
  return session.value?.required || session.value?.stateDir === 'memory' ? undefined : asOwn('npx toolscout studio');
}

/** How a person gets the right to change things. */
export function howToSignIn(): string {
  if (session.value?.required) return 'Sign in with a key that has the scope admin.';
  return session.value?.stateDir === 'memory' ? START_AS_ADMIN : `Run \`${signInCommand()}\` in a terminal to sign in.`;
}

/** What to do with an address whose code is not good: it is good once. */
export function howToGetCode(): string {
  if (session.value?.stateDir === 'memory') return START_AS_ADMIN;
  return asOwn('Run `npx toolscout studio` again: it opens a new address that signs you in.');
}

/** Watches for addresses that sign in, and for answers that ask to sign in. */
export function startSession(): () => void {
  const stopRoute = route.subscribe(({ view, query }) => {
    const code = view === 'sign-in' ? query['code'] : undefined;
    if (code !== undefined) signInWithCode(code).catch((thrown: unknown) => tellError(asApiError(thrown)));
  });
  const stopRefused = refusedSignIns.subscribe(() => void readSession());
  return () => {
    stopRoute();
    stopRefused();
  };
}
