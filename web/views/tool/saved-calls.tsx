import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { JsonObject } from '../../api/types.js';
import { tell, tellError } from '../../app/notices.js';
import { useResource } from '../../app/resource.js';
import { Icon } from '../../parts/icon.js';
import { Section } from '../../parts/page.js';
import { ImportCalls } from './import-calls.js';

/** Calls of this tool that were kept under a name; one click fills in the form. */
export function SavedCalls({
  server,
  tool,
  args,
  onPick,
}: {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly onPick: (args: JsonObject) => void;
}): VNode {
  const saved = useResource('saved calls', api.savedCalls);
  const [name, setName] = useState('');
  const [isImporting, setImporting] = useState(false);
  const act = async (task: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await task();
      tell(done);
      setName('');
    } catch (thrown) {
      tellError(asApiError(thrown));
    }
    saved.reload();
  };
  const own = (saved.data.value ?? []).filter((call) => call.server === server && call.tool === tool);
  return (
    <Section
      title="Saved calls"
      aside={
        <span class="line">
          <a href="/v1/saved-calls?format=json" download="toolscout-saved-calls.json">
            Export all
          </a>
          <button type="button" class="link" onClick={() => setImporting(true)}>
            Import
          </button>
        </span>
      }
    >
      <form
        class="stack stack-s"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '')
            void act(() => api.saveCall({ name: name.trim(), server, tool, arguments: args }), 'The call was saved.');
        }}
      >
        {own.map((call) => (
          <div key={call.id} class="line line-between">
            <button type="button" class="link" onClick={() => onPick(call.arguments as JsonObject)}>
              {call.name}
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label={`Delete ${call.name}`}
              onClick={() => void act(() => api.deleteSavedCall(call.id), 'The saved call was deleted.')}
            >
              <Icon name="cross" />
            </button>
          </div>
        ))}
        <div class="line">
          <input
            class="input grow"
            type="text"
            aria-label="Name of the saved call"
            placeholder="Name for the arguments above"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <button type="submit" class="button">
            <Icon name="star" />
            Save
          </button>
        </div>
      </form>
      {isImporting && (
        <ImportCalls
          onClose={() => setImporting(false)}
          onDone={() => {
            setImporting(false);
            saved.reload();
          }}
        />
      )}
    </Section>
  );
}
