import type { VNode } from 'preact';
import { howToSignIn, isAdmin, session } from '../app/session.js';

/** What this caller may not do and how to get the right; nothing for a caller who may change things. */
export function LookOnly({ class: look }: { readonly class: string }): VNode | null {
  const known = session.value;
  if (!known || isAdmin()) return null;
  const may = known.scopes.includes('call') ? 'You can look and run tools' : 'You can look';
  return (
    <p class={look}>
      {may}, but not change anything.{' '}
      {howToSignIn()
        .split('`')
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </p>
  );
}
