import { describe, expect, it } from 'vitest';
import type { Approval } from './types.js';
import { withUndecided } from './all-tools.js';

const approval = (tool: string | undefined, pinned?: string): Approval => ({
  ref: `s:${tool}`,
  server: 's',
  ...(tool !== undefined && { tool }),
  about: tool === undefined ? 'launch' : 'tool',
  state: 'pending',
  hash: 'h',
  ...(pinned !== undefined && { pinned }),
  requestedAt: 0,
  risk: { level: 'low', reasons: [] },
  changed: [],
  origin: 'user',
  target: '',
});

describe('withUndecided', () => {
  it('STUDIO-1 lists tools that wait beside those that are offered', () => {
    const tools = [{ tool: 'b', summary: 'B', status: 'enabled' as const }];
    const all = withUndecided(tools, [approval('a'), approval('c', 'old'), approval('b', 'old'), approval(undefined)]);
    expect(all.map(({ tool, status }) => `${tool} ${status}`)).toEqual(['a pending', 'c quarantined', 'b enabled']);
  });

  it('STUDIO-1 a tool that was rejected is listed as such, not as one that waits', () => {
    const rejected = { ...approval('a', 'old'), state: 'rejected' as const, ruling: { by: 'ann', at: 0 } };
    expect(withUndecided([], [rejected as Approval])).toEqual([
      { tool: 'a', summary: 'Rejected by ann. Open it to approve it after all.', status: 'rejected' },
    ]);
  });
});
