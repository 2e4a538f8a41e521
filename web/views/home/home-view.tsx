import type { VNode } from 'preact';
import { api } from '../../api/client.js';
import { useResource } from '../../app/resource.js';
import { Page } from '../../parts/page.js';
import { Loaded } from '../../parts/states.js';
import { formatCount } from '../../text/format.js';

/** What there is, what it costs, and what needs attention. */
export function HomeView(): VNode {
  const servers = useResource('home servers', api.servers, () => true);
  return (
    <Page title="Home" lead="What your agents can do, and what they did.">
      <Loaded from={servers} what="The overview">
        {(all) => (
          <div class="tiles">
            <a class="tile" href="#/servers">
              <span class="tile-label">Servers</span>
              <span class="tile-value">{formatCount(all.length)}</span>
            </a>
            <a class="tile" href="#/search">
              <span class="tile-label">Tools offered</span>
              <span class="tile-value">{formatCount(all.reduce((sum, { tools }) => sum + tools, 0))}</span>
            </a>
          </div>
        )}
      </Loaded>
    </Page>
  );
}
