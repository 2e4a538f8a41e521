import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { HeldTools } from '../../api/types.js';
import { useResource } from '../../app/resource.js';
import { goTo, hrefTo } from '../../app/router.js';
import { ExceptionButton } from '../../parts/exception-button.js';
import { Page, Section } from '../../parts/page.js';
import { wrappedRowHeight } from '../../parts/row-height.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { Empty, Loaded, StatusBadge } from '../../parts/states.js';
import { VirtualList } from '../../parts/virtual-list.js';
import { heldReason } from '../../text/advice.js';
import { plural } from '../../text/format.js';
import { missingServers, type MissingServer } from '../../text/missing-servers.js';

const HELD_EVENTS = /^(?:state|learned|learn-failed|reloaded|reconsidered|approval)$/;
/** Servers that are named; those that fail together have one cause. */
const MAX_SERVERS = 20;
type Held = HeldTools['tools'][number];

function open({ server, tool, status }: Held): void {
  const waits = status === 'pending' || status === 'quarantined';
  goTo(waits ? hrefTo('approvals', [`${server}:${tool}`]) : hrefTo('tool', [server, tool]));
}

function List({ held, onChange }: { readonly held: HeldTools; readonly onChange: () => void }): VNode {
  const [filter, setFilter] = useState('');
  const shown = held.tools.filter(({ server, tool }) =>
    `${server}:${tool}`.toLowerCase().includes(filter.toLowerCase()),
  );
  return (
    <Section
      title={plural(held.total, 'tool')}
      aside={held.total > held.tools.length ? `the first ${held.tools.length}` : undefined}
      flush
    >
      {held.tools.length > 8 && (
        <div class="list-filter">
          <input
            class="input"
            type="search"
            aria-label="Filter tools"
            placeholder={`Filter ${plural(held.tools.length, 'tool')}`}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </div>
      )}
      <VirtualList
        id="held"
        items={shown}
        rowHeight={wrappedRowHeight()}
        label="Tools that are held back"
        keyOf={({ server, tool }) => `${server}:${tool}`}
        maxHeight="fill"
        wraps
        action={({ server, tool, because }) =>
          because === 'rule' ? <ExceptionButton address={`${server}:${tool}`} onDone={onChange} /> : null
        }
        onOpen={open}
        render={({ server, tool, status, because, reason }) => (
          <>
            <div class="row-main row-wrap">
              <div class="row-title">
                <span class="muted">
                  <ServerLine text={server} />:
                </span>
                <ServerLine text={tool} />
              </div>
              <div class="row-sub">
                <ServerLine text={heldReason({ server, tool, reason })} />
              </div>
            </div>
            {/* A narrow row needs its width for the reason, which says the same. */}
            <span class="wide-only">
              <StatusBadge status={because === 'rejected' ? 'rejected' : status} />
            </span>
          </>
        )}
      />
    </Section>
  );
}

function Servers({ servers }: { readonly servers: readonly MissingServer[] }): VNode | null {
  if (servers.length === 0) return null;
  return (
    <Section
      title={plural(servers.length, 'server')}
      aside={`agents get none of ${servers.length === 1 ? 'its' : 'their'} tools`}
      flush
    >
      <ul>
        {servers.slice(0, MAX_SERVERS).map(({ id, isDisabled, reason }) => (
          <li key={id} class="attention">
            <span class={`dot ${isDisabled ? '' : 'dot-bad'}`} />
            <div class="grow">
              <p class="strong">
                <ServerLine text={id} />
              </p>
              <p class="muted">
                <ServerText text={reason} limit={300} />
              </p>
            </div>
            <a class="button button-small" href={hrefTo('servers', [id])} aria-label={`Open the server ${id}`}>
              Open the server
            </a>
          </li>
        ))}
        {servers.length > MAX_SERVERS && (
          <li class="attention">
            <a href={hrefTo('servers')}>See all servers</a>
          </li>
        )}
      </ul>
    </Section>
  );
}

/** What the page lists, asked at once: neither list alone says that nothing is missing. */
async function loadHeld(
  signal: AbortSignal,
): Promise<{ readonly held: HeldTools; readonly servers: readonly MissingServer[] }> {
  const [held, servers] = await Promise.all([api.heldTools({}, signal), api.servers(signal)]);
  return { held, servers: missingServers(servers) };
}

/** The tools that servers have and agents do not get, each with its reason, and the servers that give none. */
export function HeldView(): VNode {
  const found = useResource('held tools', loadHeld, (event) => HELD_EVENTS.test(event.type));
  return (
    <Page title="Held back" lead="Tools that your servers have and agents do not get, and why.">
      <Loaded from={found} what="The list of tools">
        {({ held, servers }) =>
          held.total === 0 && servers.length === 0 ? (
            <Empty icon="tool" title="Nothing is held back">
              <p>
                Agents get every tool that your servers have. Rules turn tools off; changed tools wait for approval.
              </p>
            </Empty>
          ) : (
            <>
              <Servers servers={servers} />
              {held.total > 0 && <List held={held} onChange={found.reload} />}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
