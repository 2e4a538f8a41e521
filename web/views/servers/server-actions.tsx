import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { ConfigChange, ServerDetails } from '../../api/types.js';
import { tell, tellError } from '../../app/notices.js';
import { goTo, hrefTo } from '../../app/router.js';
import { isAdmin } from '../../app/session.js';
import { ConfigReview } from '../../parts/change-review.js';
import { removalWords } from '../../parts/change-words.js';
import { learnedText } from './server-state.js';

/** What can be done with a server. */
type Action = Parameters<typeof api.serverAction>[1];

const DONE: Readonly<Record<Action, string>> = {
  connect: 'is connected',
  disconnect: 'is disconnected',
  discover: 'has told its tools',
  enable: 'is enabled',
  disable: 'is disabled',
  'sign-in': 'sign-in has begun in another tab',
};

/** Buttons that connect, disconnect, learn, enable, disable and sign in. */
export function ServerActions({
  server,
  onChange,
}: {
  readonly server: ServerDetails;
  readonly onChange: () => void;
}): VNode {
  const [busy, setBusy] = useState<Action>();
  const [removal, setRemoval] = useState<ConfigChange>();
  const act = async (action: Action): Promise<void> => {
    setBusy(action);
    try {
      const answer = await api.serverAction(server.id, action);
      const url = answer?.['url'];
      if (typeof url === 'string' && /^https?:/.test(url)) window.open(url, '_blank', 'noopener');
      const learned = action === 'discover' ? await api.server(server.id) : undefined;
      tell(
        learned
          ? `${server.id} ${learnedText(server.toolCounts, learned.toolCounts)}`
          : `${server.id} ${DONE[action]}.`,
      );
    } catch (thrown) {
      tellError(asApiError(thrown));
    } finally {
      setBusy(undefined);
      onChange();
    }
  };
  const button = (action: Action, label: string, working: string, look = ''): VNode => (
    <button
      key={action}
      type="button"
      class={`button ${look}`}
      disabled={busy !== undefined || !isAdmin()}
      onClick={() => void act(action)}
    >
      {busy === action ? working : label}
    </button>
  );
  const isConnected = server.health.state === 'connected';
  const needsSignIn = server.signIn !== undefined && /^(?:expired|signed-out)$/.test(server.signIn.state);
  return (
    <div class="line">
      {server.enabled && needsSignIn && button('sign-in', 'Sign in', 'Signing in…', 'button-main')}
      {server.enabled && !isConnected && button('connect', 'Connect now', 'Connecting…')}
      {server.enabled && isConnected && button('disconnect', 'Disconnect', 'Disconnecting…')}
      {server.enabled && button('discover', 'Learn its tools again', 'Learning…')}
      {server.enabled
        ? button('disable', 'Disable', 'Disabling…')
        : button('enable', 'Enable', 'Enabling…', 'button-main')}
      <a class="button" href={hrefTo('servers', [server.id, 'edit'])}>
        Edit
      </a>
      <button
        type="button"
        class="button button-danger"
        disabled={!isAdmin()}
        onClick={() => setRemoval({ servers: { [server.id]: null } })}
      >
        Remove the server
      </button>
      <ConfigReview
        {...removalWords(server.id)}
        change={removal}
        onClose={() => setRemoval(undefined)}
        onDone={() => goTo(hrefTo('servers'), { from: 'servers' })}
      />
    </div>
  );
}
