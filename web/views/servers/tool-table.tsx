import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../../app/resource.js';
import { goTo, hrefTo } from '../../app/router.js';
import { ServerLine } from '../../parts/server-text.js';
import { Badge, Empty, Loaded, StatusBadge } from '../../parts/states.js';
import { VirtualList } from '../../parts/virtual-list.js';
import { plural } from '../../text/format.js';
import { allTools } from '../../api/all-tools.js';

/** The tools of one server, filtered as you type. */
export function ToolTable({ id }: { readonly id: string }): VNode {
  const tools = useResource(
    `tools ${id}`,
    (signal) => allTools(id, signal),
    (event) =>
      (event.server === id && event.type !== 'state') || event.type === 'approval' || event.type === 'reloaded',
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
              onOpen={({ tool, status }) =>
                goTo(
                  status === 'enabled' || status === 'disabled'
                    ? hrefTo('tool', [id, tool])
                    : hrefTo('approvals', [`${id}:${tool}`]),
                )
              }
              render={({ tool, title, summary, status, confirm }) => (
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
                  {confirm && status === 'enabled' && <Badge tone="warn">needs a yes</Badge>}
                  <StatusBadge status={status} />
                </>
              )}
            />
          </>
        );
      }}
    </Loaded>
  );
}
