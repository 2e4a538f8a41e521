import type { VNode } from 'preact';
import { CopyButton } from './copy-button.js';
import { Advice } from './states.js';
import { howToSignIn, isAdmin, session, signInCommand, signOut, whatIsAllowed } from '../app/session.js';

/** What this caller may not do and how to get the right; nothing for a caller who may change things. */
export function LookOnly({ class: look }: { readonly class: string }): VNode | null {
  const known = session.value;
  if (!known || isAdmin()) return null;
  const command = signInCommand();
  return (
    <p class={look}>
      <span>
        {whatIsAllowed()} <Advice text={howToSignIn()} />{' '}
        {command !== undefined && <CopyButton text={command} what="The command" />}
        {known.required && (
          <button type="button" class="link" onClick={() => void signOut()}>
            Sign in with another key
          </button>
        )}
      </span>
    </p>
  );
}
