import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { Approval } from '../../api/types.js';
import { tell, tellError } from '../../app/notices.js';
import { isAdmin } from '../../app/session.js';
import { countWaiting } from '../../app/waiting.js';
import { takenBackText } from './approval-words.js';

/** Takes an approval back: agents no longer get what was approved, until it is approved again. */
export function TakeBackButton({
  approval: { ref, hash },
  onDone,
}: {
  readonly approval: Pick<Approval, 'ref' | 'hash'>;
  readonly onDone: () => void;
}): VNode {
  const [isBusy, setBusy] = useState(false);
  const takeBack = async (): Promise<void> => {
    setBusy(true);
    try {
      await api.decide(ref, 'reject', { hash });
      tell(takenBackText(ref));
    } catch (thrown) {
      tellError(asApiError(thrown));
    } finally {
      setBusy(false);
      onDone();
      await countWaiting();
    }
  };
  return (
    <button
      type="button"
      class="button button-small"
      aria-label={`Take back the approval of ${ref.slice(0, 120)}`}
      disabled={isBusy || !isAdmin()}
      onClick={() => void takeBack()}
    >
      Take back
    </button>
  );
}
