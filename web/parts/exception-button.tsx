import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/client.js';
import { asApiError } from '../api/problem.js';
import type { ConfigChange, JsonObject } from '../api/types.js';
import { tellError } from '../app/notices.js';
import { isAdmin } from '../app/session.js';
import { ConfigReview } from './change-review.js';
import { exceptionWords } from './change-words.js';

/** The rules of the config with an exception for one tool, as a change of the config. */
async function exceptionFor(address: string): Promise<ConfigChange> {
  const { toolRules } = await api.config();
  const { rules } = await api.previewRules(toolRules, undefined, address);
  return { toolRules: rules.map(({ rule }) => rule as unknown as JsonObject) };
}

/** Enables one tool that a rule disables, and nothing else: the change of the config is shown before it is saved. */
export function ExceptionButton({
  address,
  isMain,
  onDone = () => undefined,
}: {
  /** The tool, as `server:tool`. */
  readonly address: string;
  readonly isMain?: boolean;
  readonly onDone?: () => void;
}): VNode {
  const [change, setChange] = useState<ConfigChange>();
  const [isBusy, setBusy] = useState(false);
  useEffect(
    () => () => {
      // The button goes with the tool that is no longer held back, and takes the focus with it.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body)
          document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      });
    },
    [],
  );
  const plan = async (): Promise<void> => {
    setBusy(true);
    try {
      setChange(await exceptionFor(address));
    } catch (thrown) {
      tellError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class={isMain ? 'button button-small button-main' : 'button button-small'}
        disabled={isBusy || !isAdmin()}
        aria-label={`Enable this tool only: ${address.slice(0, 200)}`}
        title="You see the change of the config before anything is saved"
        onClick={() => void plan()}
      >
        Enable this tool only
      </button>
      <ConfigReview {...exceptionWords(address)} change={change} onClose={() => setChange(undefined)} onDone={onDone} />
    </>
  );
}
