import { describe, expect, it } from 'vitest';
import type { Approval } from '../../api/types.js';
import { withWaiting } from './all-tools.js';

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

describe('withWaiting', () => {
  it('STUDIO-1 lists tools that wait beside those that are offered', () => {
    const tools = [{ tool: 'b', summary: 'B', status: 'enabled' as const }];
    const all = withWaiting(tools, [approval('a'), approval('c', 'old'), approval('b', 'old'), approval(undefined)]);
    expect(all.map(({ tool, status }) => `${tool} ${status}`)).toEqual(['a pending', 'c quarantined', 'b enabled']);
  });
});
