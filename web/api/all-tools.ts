import { api } from './client.js';
import type { Approval } from './types.js';
import type { ListedStatus } from '../text/status-word.js';

/** A tool in the list of a server: one that is known, one that waits for approval, or one that was rejected. */
export interface ListedTool {
  readonly tool: string;
  readonly title?: string;
  readonly summary: string;
  readonly status: ListedStatus;
  /** Calls of it need a yes. */
  readonly confirm?: unknown;
}

function undecided({ tool = '', pinned, state, ruling }: Approval): ListedTool {
  if (state === 'rejected') {
    const by = ruling ? ` by ${ruling.by}` : '';
    return { tool, summary: `Rejected${by}. Open it to approve it after all.`, status: 'rejected' };
  }
  return pinned === undefined
    ? { tool, summary: 'New. Agents get it when you approve it.', status: 'pending' }
    : { tool, summary: 'Changed since it was trusted. Agents get it when you approve it.', status: 'quarantined' };
}

/** The tools that the API lists, and those that are not approved: their texts are shown nowhere but where they are decided about. */
export function withUndecided(tools: readonly ListedTool[], approvals: readonly Approval[]): ListedTool[] {
  const listed = new Set(tools.map(({ tool }) => tool));
  const others = approvals.filter(({ tool }) => tool !== undefined && !listed.has(tool)).map(undecided);
  // Tools that agents do not get come first: a user who misses a tool looks for it here. The others are listed by name already.
  const held = [...tools.filter(({ status }) => status !== 'enabled'), ...others];
  return [
    ...held.toSorted((a, b) => a.tool.localeCompare(b.tool)),
    ...tools.filter(({ status }) => status === 'enabled'),
  ];
}

/** Every tool of a server, whatever its status. */
export async function allTools(id: string, signal: AbortSignal): Promise<ListedTool[]> {
  const [tools, waiting, rejected] = await Promise.all([
    api.serverTools(id, signal),
    api.approvals('pending', signal, id),
    api.approvals('rejected', signal, id),
  ]);
  return withUndecided(tools, [...waiting, ...rejected]);
}
