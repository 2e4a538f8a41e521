import type { VNode } from 'preact';
import { Empty } from '../../parts/states.js';

/** What stands on Home before there is a server: three ways to the first one. */
export function FirstRun({ onChange: _onChange }: { readonly onChange: () => void }): VNode {
  return (
    <Empty icon="servers" title="Welcome. There is no server yet.">
      <p>toolscout stands between your agents and their MCP servers. Give it the first one.</p>
    </Empty>
  );
}
