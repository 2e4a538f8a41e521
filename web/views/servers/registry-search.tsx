import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError, type ApiError } from '../../api/problem.js';
import type { JsonObject, RegistryFindings } from '../../api/types.js';
import { tell } from '../../app/notices.js';
import { Section } from '../../parts/page.js';
import { ServerText } from '../../parts/server-text.js';
import { Badge, Failure } from '../../parts/states.js';
import { shortName } from './short-name.js';

const FEW = 8;

/** Finds a published server and hands its entry to the form. */
export function RegistrySearch({ onPick }: { readonly onPick: (id: string, entry: JsonObject) => void }): VNode {
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<RegistryFindings>();
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const search = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (query.trim() === '') return;
    setBusy(true);
    setError(undefined);
    try {
      setFound(await api.registrySearch(query.trim()));
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section title="Find it in the public registry">
      <form class="stack stack-s" onSubmit={(event) => void search(event)}>
        <div class="line">
          <input
            class="input grow"
            type="search"
            aria-label="Search the registry"
            placeholder="github, postgres, calendar…"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
          <button type="submit" class="button" disabled={isBusy}>
            {isBusy ? 'Asking the registry…' : 'Search'}
          </button>
        </div>
        {error && <Failure error={error} />}
        {found && found.servers.length === 0 && <p class="muted">The registry has nothing under these words.</p>}
        {found && (
          <ul>
            {found.servers.slice(0, FEW).map(({ name, description, version, state, launch }) => (
              <li key={name} class="attention">
                <div class="grow">
                  <p class="strong">
                    <ServerText text={name} limit={120} /> <span class="muted small">{version}</span>
                  </p>
                  <p class="muted small">
                    <ServerText text={description} limit={200} />
                  </p>
                  <code class="small">
                    <ServerText text={launch.ok ? launch.shown : launch.reason} limit={300} />
                  </code>
                </div>
                {state === 'configured' && <Badge tone="ok">configured</Badge>}
                {launch.ok && state !== 'configured' && (
                  <button
                    type="button"
                    class="button button-small"
                    onClick={() => {
                      onPick(shortName(name), launch.entry as JsonObject);
                      tell('The form below was filled in. Check it, then review the change.', 'info');
                    }}
                  >
                    Use it
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </form>
    </Section>
  );
}
