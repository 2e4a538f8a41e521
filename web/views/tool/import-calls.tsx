import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError, type ApiError } from '../../api/problem.js';
import { tell } from '../../app/notices.js';
import { Dialog } from '../../parts/dialog.js';
import { Failure } from '../../parts/states.js';
import { plural } from '../../text/format.js';
import { missingCalls, readCalls } from './imported-calls.js';

/** Takes saved calls from a file or from pasted text. What is kept already is left out. */
export function ImportCalls({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }): VNode {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const write = (next: string): void => {
    setText(next);
    setProblem(undefined);
    setError(undefined);
  };
  const take = async (): Promise<void> => {
    const read = readCalls(text);
    if ('problem' in read) {
      setProblem(read.problem);
      return;
    }
    setBusy(true);
    try {
      const missing = missingCalls(read.calls, await api.savedCalls());
      if (missing.length > 0) await api.saveCalls(missing);
      const known = read.calls.length - missing.length;
      const more = known > 0 ? ` ${plural(known, 'call')} ${known === 1 ? 'was' : 'were'} there already.` : '';
      tell(`${plural(missing.length, 'call')} imported.${more}`);
      onDone();
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Import saved calls" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void take();
        }}
      >
        {error && <Failure error={error} />}
        <label class="field">
          <span class="field-label">File with saved calls</span>
          <input
            class="input"
            type="file"
            accept="application/json,.json"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              file?.text().then(write, () => setProblem('The file cannot be read.'));
            }}
          />
        </label>
        <label class="field">
          <span class="field-label">Or its text</span>
          <textarea
            class="input"
            rows={8}
            spellcheck={false}
            value={text}
            aria-invalid={problem !== undefined}
            onInput={(event) => write(event.currentTarget.value)}
          />
        </label>
        {problem !== undefined && (
          <p class="field-problem" role="alert">
            {problem}
          </p>
        )}
        <div class="line">
          <button type="submit" class="button button-main" disabled={isBusy || text.trim() === ''}>
            {isBusy ? 'Importing…' : 'Import the calls'}
          </button>
          <button type="button" class="button" onClick={onClose}>
            Back
          </button>
        </div>
      </form>
    </Dialog>
  );
}
