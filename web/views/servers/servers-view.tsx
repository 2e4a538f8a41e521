import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { ServerView } from '../../api/types.js';
import { useResource } from '../../app/resource.js';
import { goTo, hrefTo, type Route } from '../../app/router.js';
import { Icon } from '../../parts/icon.js';
import { Page } from '../../parts/page.js';
import { wrappedRowHeight } from '../../parts/row-height.js';
import { ServerLine } from '../../parts/server-text.js';
import { Badge, Empty, Loaded } from '../../parts/states.js';
import { VirtualList } from '../../parts/virtual-list.js';
import { plural } from '../../text/format.js';
import { EditServer } from './edit-server.js';
import { OneServer } from './one-server.js';
import { narrowFacts, offeredText, pingText, stateOf } from './server-state.js';

const SERVER_EVENTS = /^(?:state|learned|learn-failed|reloaded|reconsidered|approval)$/;

function Row({ server }: { readonly server: ServerView }): VNode {
  const { word, tone, line } = stateOf(server);
  const facts = narrowFacts(server);
  return (
    <>
      <span class={`dot dot-${tone}`} />
      <div class="row-main row-wrap">
        <div class="row-title">
          <ServerLine text={server.id} />
          {server.title && server.title !== server.id && (
            <span class="muted">
              {' '}
              <ServerLine text={server.title} />
            </span>
          )}
        </div>
        <div class="row-sub">
          <ServerLine text={line} />
        </div>
        {facts !== '' && <div class="row-facts narrow-only">{facts}</div>}
      </div>
      <span class="muted small number wide-only" title="How long it took to answer a ping; a call may take longer">
        {pingText(server.health.latencyMs)}
      </span>
      <span class="muted small number wide-only">{offeredText(server.tools, server.disabledTools)}</span>
      <Badge tone={tone}>{word}</Badge>
    </>
  );
}

function List(): VNode {
  const servers = useResource('servers', api.servers, (event) => SERVER_EVENTS.test(event.type));
  const [filter, setFilter] = useState('');
  return (
    <Page
      title="Servers"
      lead="The MCP servers behind toolscout. A server starts when one of its tools is needed."
      actions={
        <a class="button button-main" href="#/servers/+/add">
          <Icon name="plus" />
          Add a server
        </a>
      }
    >
      <Loaded from={servers} what="The list of servers">
        {(all) => {
          const shown = all.filter(({ id, title = '' }) =>
            `${id} ${title}`.toLowerCase().includes(filter.toLowerCase()),
          );
          if (all.length === 0) {
            return (
              <Empty icon="servers" title="No servers yet">
                <p>Add one here, or import those that your clients already have.</p>
                <p>
                  <a class="button button-main" href="#/servers/+/add">
                    Add a server
                  </a>{' '}
                  <a class="button" href="#/home">
                    Import from clients
                  </a>
                </p>
              </Empty>
            );
          }
          return (
            <>
              {all.length > 8 && (
                <label class="field">
                  <span class="sr-only">Filter servers</span>
                  <input
                    class="input"
                    type="search"
                    placeholder={`Filter ${plural(all.length, 'server')}`}
                    value={filter}
                    onInput={(event) => setFilter(event.currentTarget.value)}
                  />
                </label>
              )}
              <div class="card card-flush">
                <VirtualList
                  id="servers"
                  items={shown}
                  rowHeight={wrappedRowHeight()}
                  label="Servers"
                  keyOf={({ id }) => id}
                  maxHeight="fill"
                  wraps
                  onOpen={({ id }) => goTo(hrefTo('servers', [id]))}
                  render={(server) => <Row server={server} />}
                />
              </div>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

/** All servers, or the one that the address names. */
export function ServersView({ route }: { readonly route: Route }): VNode {
  const [id, page] = route.parts;
  if (id === undefined) return <List />;
  // No server can be called so: a name has no plus sign alone.
  if (id === '+') return <EditServer />;
  return page === 'edit' ? <EditServer id={id} /> : <OneServer id={id} />;
}
