import type { VNode } from 'preact';
import { Advice } from './states.js';
import { howToSignIn, isAdmin, session, signOut, whatIsAllowed } from '../app/session.js';

/** What this caller may not do and how to get the right; nothing for a caller who may change things. */
export function LookOnly({ class: look }: { readonly class: string }): VNode | null {
  const known = session.value;
  if (!known || isAdmin()) return null;
  return (
    <p class={look}>
      <span>
        {whatIsAllowed()} <Advice text={howToSignIn()} />{' '}
        {known.required && (
          <button type="button" class="link" onClick={() => void signOut()}>
            Sign in with another key
          </button>
        )}
      </span>
    </p>
  );
}
