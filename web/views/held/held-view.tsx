import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { HeldTools } from '../../api/types.js';
import { useResource } from '../../app/resource.js';
import { goTo, hrefTo } from '../../app/router.js';
import { Page, Section } from '../../parts/page.js';
import { wrappedRowHeight } from '../../parts/row-height.js';
import { ServerLine } from '../../parts/server-text.js';
import { Empty, Loaded, StatusBadge } from '../../parts/states.js';
import { VirtualList } from '../../parts/virtual-list.js';
import { heldReason } from '../../text/advice.js';
import { plural } from '../../text/format.js';

const HELD_EVENTS = /^(?:learned|reloaded|reconsidered|approval)$/;
type Held = HeldTools['tools'][number];

function open({ server, tool, status }: Held): void {
  const waits = status === 'pending' || status === 'quarantined';
  goTo(waits ? hrefTo('approvals', [`${server}:${tool}`]) : hrefTo('tool', [server, tool]));
}

function List({ held }: { readonly held: HeldTools }): VNode {
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
            <StatusBadge status={because === 'rejected' ? 'rejected' : status} />
          </>
        )}
      />
    </Section>
  );
}

/** The tools that servers have and agents do not get, each with its reason. */
export function HeldView(): VNode {
  const held = useResource(
    'held tools',
    (signal) => api.heldTools({}, signal),
    (event) => HELD_EVENTS.test(event.type),
  );
  return (
    <Page title="Held back" lead="Tools that your servers have and agents do not get, and why.">
      <Loaded from={held} what="The list of tools">
        {(found) =>
          found.total === 0 ? (
            <Empty icon="tool" title="Nothing is held back">
              <p>
                Agents get every tool that your servers have. Rules turn tools off; changed tools wait for approval.
              </p>
            </Empty>
          ) : (
            <List held={found} />
          )
        }
      </Loaded>
    </Page>
  );
}
