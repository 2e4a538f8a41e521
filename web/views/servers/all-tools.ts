import { api } from '../../api/client.js';
import type { Approval, ToolSummary } from '../../api/types.js';

/** A tool in the list of a server: one that is known, or one that waits for approval. */
export interface ListedTool {
  readonly tool: string;
  readonly title?: string;
  readonly summary: string;
  readonly status: ToolSummary['status'];
}

/** The tools that the API lists, and those that wait: their texts are shown nowhere but where they are decided about. */
export function withWaiting(tools: readonly ListedTool[], waiting: readonly Approval[]): ListedTool[] {
  const listed = new Set(tools.map(({ tool }) => tool));
  const others = waiting.flatMap(({ tool, pinned }): ListedTool[] =>
    tool === undefined || listed.has(tool)
      ? []
      : [
          pinned === undefined
            ? { tool, summary: 'New. It waits for approval.', status: 'pending' }
            : { tool, summary: 'Changed since it was approved. It waits for approval.', status: 'quarantined' },
        ],
  );
  // Tools that agents do not get come first: a user who misses a tool looks for it here. The others are listed by name already.
  const held = [...tools.filter(({ status }) => status !== 'enabled'), ...others];
  return [
    ...held.toSorted((a, b) => a.tool.localeCompare(b.tool)),
    ...tools.filter(({ status }) => status === 'enabled'),
  ];
}

/** Every tool of a server, whatever its status. */
export async function allTools(id: string, signal: AbortSignal): Promise<ListedTool[]> {
  const [tools, waiting] = await Promise.all([api.serverTools(id, signal), api.approvals('pending', signal, id)]);
  return withWaiting(tools, waiting);
}
