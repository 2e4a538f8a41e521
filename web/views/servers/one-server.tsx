import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { ToolSummary } from '../../api/types.js';
import { now } from '../../app/now.js';
import { useResource } from '../../app/resource.js';
import { goTo, hrefTo } from '../../app/router.js';
import { Facts, Page, Section } from '../../parts/page.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { Badge, Callout, Empty, Loaded, type Tone } from '../../parts/states.js';
import { VirtualList } from '../../parts/virtual-list.js';
import { formatAgo, formatDuration, plural } from '../../text/format.js';
import { stateOf } from './server-state.js';

const STATUS_TONES: Readonly<Record<ToolSummary['status'], Tone>> = {
  enabled: 'ok',
  disabled: 'quiet',
  pending: 'warn',
  quarantined: 'bad',
};

/** The tools of one server, filtered as you type. */
export function ToolTable({ id }: { readonly id: string }): VNode {
  const tools = useResource(
    `tools ${id}`,
    (signal) => api.serverTools(id, signal),
    (event) => event.server === id && event.type !== 'state',
  );
  const [filter, setFilter] = useState('');
  return (
    <Loaded from={tools} what="The list of tools">
      {(all) => {
        const wanted = filter.toLowerCase();
        const shown = all.filter(({ tool, summary }) =>
          `${tool} ${summary.slice(0, 300)}`.toLowerCase().includes(wanted),
        );
        if (all.length === 0) return <Empty icon="tool" title="This server has no tools" />;
        return (
          <>
            {all.length > 8 && (
              <div class="list-filter">
                <input
                  class="input"
                  type="search"
                  aria-label="Filter tools"
                  placeholder={`Filter ${plural(all.length, 'tool')}`}
                  value={filter}
                  onInput={(event) => setFilter(event.currentTarget.value)}
                />
              </div>
            )}
            <VirtualList
              id="tools"
              items={shown}
              rowHeight={56}
              label={`Tools of ${id}`}
              keyOf={({ tool }) => tool}
              maxHeight={448}
              onOpen={({ tool }) => goTo(hrefTo('tool', [id, tool]))}
              render={({ tool, title, summary, status }) => (
                <>
                  <div class="row-main">
                    <div class="row-title">
                      <code>
                        <ServerLine text={tool} />
                      </code>{' '}
                      {title && (
                        <span class="muted">
                          <ServerLine text={title} />
                        </span>
                      )}
                    </div>
                    <div class="row-sub">
                      <ServerLine text={summary} />
                    </div>
                  </div>
                  <Badge tone={STATUS_TONES[status]}>{status}</Badge>
                </>
              )}
            />
          </>
        );
      }}
    </Loaded>
  );
}

/** Everything about one server. */
export function OneServer({ id }: { readonly id: string }): VNode {
  const servers = useResource(`server ${id}`, api.servers, (event) => event.server === id || event.type === 'reloaded');
  return (
    <Page title={id} lead={<a href="#/servers">All servers</a>}>
      <Loaded from={servers} what="The server">
        {(all) => {
          const server = all.find((one) => one.id === id);
          if (!server) {
            return (
              <Empty icon="servers" title="There is no such server">
                <p>
                  It may have been removed from the config. <a href="#/servers">See all servers</a>.
                </p>
              </Empty>
            );
          }
          const { word, tone, reason } = stateOf(server);
          const { health } = server;
          return (
            <>
              {reason && (
                <Callout tone={tone === 'bad' ? 'bad' : 'warn'}>
                  <ServerText text={reason} />
                </Callout>
              )}
              <div class="split">
                <Section title="State">
                  <Facts
                    items={[
                      ['Now', <Badge tone={tone}>{word}</Badge>],
                      health.latencyMs !== undefined && ['Latency', formatDuration(health.latencyMs)],
                      health.era !== undefined && ['Protocol', `${health.protocolVersion ?? ''} (${health.era} era)`],
                      health.pid !== undefined && ['Process', String(health.pid)],
                      server.learnedAt !== undefined && ['Tools learned', formatAgo(server.learnedAt, now.value)],
                    ]}
                  />
                </Section>
                <Section title="Launch">
                  <Facts
                    items={[
                      ['Transport', server.transport.type],
                      server.transport.target !== undefined && [
                        server.transport.type === 'stdio' ? 'Command' : 'URL',
                        <code>
                          <ServerText text={server.transport.target} />
                        </code>,
                      ],
                      (server.transport.secrets?.length ?? 0) > 0 && ['Secrets', server.transport.secrets!.join(', ')],
                      ['Source', <ServerText text={server.source} />],
                    ]}
                  />
                </Section>
              </div>
              <Section
                title="Tools"
                aside={`${plural(server.tools, 'tool')} offered${server.disabledTools > 0 ? `, ${server.disabledTools} not` : ''}`}
                flush
              >
                <ToolTable id={id} />
              </Section>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
