import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asApiError, type ApiError } from '../../api/problem.js';
import type { SessionState } from '../../api/types.js';
import { signInWithKey } from '../../app/session.js';
import { Icon } from '../../parts/icon.js';
import { Failure } from '../../parts/states.js';

/** Asks for a key, or sends the person to the identity provider. */
export function SignInView({ session }: { readonly session: SessionState }): VNode {
  const [key, setKey] = useState('');
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const { methods } = session;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await signInWithKey(key.trim());
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="sign-in">
      <div class="brand">
        <span class="brand-mark">
          <Icon name="search" />
        </span>
        toolscout
      </div>
      <h1>Sign in</h1>
      {error && <Failure error={error} />}
      {methods.includes('key') && (
        <form class="card stack" onSubmit={(event) => void submit(event)}>
          <label class="field">
            <span class="field-label">Key</span>
            <input
              ref={input}
              class="input mono"
              type="password"
              autocomplete="current-password"
              required
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
            <span class="field-hint">
              A key of http.auth in the config of this toolscout. It is sent once and not kept in the browser.
            </span>
          </label>
          <button type="submit" class="button button-main" disabled={isBusy}>
            {isBusy ? 'Signing in…' : 'Sign in'}
          </button>
        </form>
      )}
      {methods.includes('oauth') && (
        <a class="button" href="/v1/session/oauth/start">
          Sign in with your identity provider
        </a>
      )}
    </main>
  );
}
