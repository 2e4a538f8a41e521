import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { ConfigApplied, ConfigChange, ConfigPlan, ImportPlan } from '../../api/types.js';
import { useResource } from '../../app/resource.js';
import { isAdmin } from '../../app/session.js';
import { ChangeReview } from '../../parts/change-review.js';
import { Icon } from '../../parts/icon.js';
import { Section } from '../../parts/page.js';
import { Loaded } from '../../parts/states.js';
import { plural } from '../../text/format.js';

/** Two servers that need nothing: the version is the one that toolscout is tested with. */
const DEMO: ConfigChange = {
  servers: {
    everything: {
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-everything@2026.8.31', 'stdio'],
      title: 'Everything: one tool of each kind',
    },
    memory: {
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-memory@2026.8.31'],
      title: 'A knowledge graph that remembers',
    },
  },
};

/** A change that is looked at. */
interface Review {
  readonly title: string;
  readonly plan: () => Promise<ConfigPlan>;
  readonly apply: (plan: string) => Promise<ConfigApplied>;
}

function Imports({
  plan,
  onReview,
}: {
  readonly plan: ImportPlan;
  readonly onReview: (review: Review) => void;
}): VNode {
  const clients = plan.clients.filter(({ servers }) => servers.length > 0);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(clients.map(({ client }) => client)));
  if (clients.length === 0) {
    return (
      <p class="muted">
        No client on this machine has servers. Clients such as Claude Desktop, Cursor, VS Code and 17 more are looked
        for.
      </p>
    );
  }
  const sources = clients.map(({ client }) => client).filter((client) => chosen.has(client));
  return (
    <div class="stack stack-s">
      {clients.map(({ client, title, servers }) => (
        <label key={client} class="check">
          <input
            type="checkbox"
            checked={chosen.has(client)}
            onChange={() => {
              const next = new Set(chosen);
              if (!next.delete(client)) next.add(client);
              setChosen(next);
            }}
          />
          <span>
            <span class="strong">{title}</span>{' '}
            <span class="muted">
              {plural(servers.length, 'server')}:{' '}
              {servers
                .map(({ server }) => server)
                .slice(0, 6)
                .join(', ')}
            </span>
          </span>
        </label>
      ))}
      <div>
        <button
          type="button"
          class="button button-main"
          disabled={sources.length === 0 || !isAdmin()}
          onClick={() =>
            onReview({
              title: 'Import servers',
              plan: () => api.planImport(sources),
              apply: (hash) => api.applyImport(sources, hash),
            })
          }
        >
          Review the import
        </button>
      </div>
    </div>
  );
}

/** What stands on Home before there is a server: three ways to the first one. */
export function FirstRun({ onChange }: { readonly onChange: () => void }): VNode {
  const imports = useResource('imports', api.imports);
  const [review, setReview] = useState<Review>();
  return (
    <>
      <div class="welcome">
        <span class="empty-icon">
          <Icon name="search" />
        </span>
        <div>
          <h2>Welcome. Give toolscout its first servers.</h2>
          <p class="muted">
            toolscout stands between your agents and their MCP servers. The agent sees five tools instead of hundreds,
            and finds the right one by asking. You see and decide everything here.
          </p>
        </div>
      </div>
      <Section title="Import from your clients" aside="nothing is changed in them">
        <Loaded from={imports} what="The list of clients">
          {(plan) => <Imports plan={plan} onReview={setReview} />}
        </Loaded>
      </Section>
      <div class="split split-even">
        <Section title="Add a server">
          <div class="stack stack-s">
            <p class="muted">From the public registry, by its command, or by its address.</p>
            <div>
              <a class="button" href="#/servers/+/add">
                <Icon name="plus" />
                Add a server
              </a>
            </div>
          </div>
        </Section>
        <Section title="Try the demo">
          <div class="stack stack-s">
            <p class="muted">Two small servers from npm that need no account. You see the exact commands first.</p>
            <div>
              <button
                type="button"
                class="button"
                disabled={!isAdmin()}
                onClick={() =>
                  setReview({
                    title: 'Add the demo servers',
                    plan: () => api.planChange(DEMO),
                    apply: (hash) => api.applyChange(DEMO, hash),
                  })
                }
              >
                <Icon name="play" />
                Add the demo servers
              </button>
            </div>
          </div>
        </Section>
      </div>
      {review && (
        <ChangeReview
          {...review}
          onClose={() => setReview(undefined)}
          onDone={() => {
            setReview(undefined);
            onChange();
          }}
        />
      )}
    </>
  );
}
