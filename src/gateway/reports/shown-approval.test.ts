import { describe, expect, it } from 'vitest';
import type { Approval, ApprovalDiff } from '../../model/approval.js';
import type { Viewer } from '../../model/viewer.js';
import type { ToolscoutEvent } from '../contract.js';
import { showApproval, showDiff, showEvent } from './shown-approval.js';

const viewer = (...scopes: Array<'read' | 'admin'>): Viewer => ({
  principal: 'ann',
  scopes: new Set(scopes),
  isLimited: false,
  sees: () => true,
});
const approval = (about: Approval['about']): Approval =>
  ({
    about,
    target: 'npx secret-server --key=1',
    risk: { level: 'high', reasons: ['runs npx secret-server'] },
  }) as never;

describe('approvals for viewers who may not decide', () => {
  it('A34 hide the launch, and the reasons that quote it', () => {
    const [reader, admin] = [viewer('read'), viewer('read', 'admin')];
    expect(showApproval(admin, approval('launch'))).toEqual(approval('launch'));
    expect(JSON.stringify(showApproval(reader, approval('launch')))).not.toContain('secret-server');
    expect(showApproval(reader, approval('tool'))).toMatchObject({
      target: '',
      risk: { reasons: [expect.any(String)] },
    });
  });

  it('A34 hide it in a diff and in an event too', () => {
    const diff = (about: Approval['about']): ApprovalDiff =>
      ({ approval: approval(about), changes: [{ path: 'command', before: 'a', after: 'npx secret-server' }] }) as never;
    expect(showDiff(viewer('admin'), diff('launch'))).toEqual(diff('launch'));
    expect(showDiff(viewer('read'), diff('launch'))).toMatchObject({ changes: [], approval: { target: '' } });
    expect(showDiff(viewer('read'), diff('tool')).changes).toHaveLength(1);
    const event = { type: 'approval', approval: approval('launch') } as unknown as ToolscoutEvent;
    expect(JSON.stringify(showEvent(viewer('read'), event))).not.toContain('secret-server');
    const other = { type: 'reloaded', report: {} } as unknown as ToolscoutEvent;
    expect(showEvent(viewer('read'), other)).toBe(other);
  });
});
