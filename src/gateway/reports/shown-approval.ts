import type { Approval, ApprovalDiff } from '../../model/approval.js';
import { hasScope } from '../../model/principal.js';
import type { Viewer } from '../../model/viewer.js';
import type { ToolscoutEvent } from '../contract.js';

/** The launch of a server is shown only to those who may decide about it (A34): no one else sees its command or URL. */
export function showApproval(viewer: Viewer, approval: Approval): Approval {
  if (hasScope(viewer, 'admin')) return approval;
  return {
    ...approval,
    target: '',
    // The reasons for the risk of a launch quote it.
    ...(approval.about === 'launch' && { risk: { level: approval.risk.level, reasons: [] } }),
  };
}

/** A diff as {@link showApproval} shows its approval. */
export function showDiff(viewer: Viewer, diff: ApprovalDiff): ApprovalDiff {
  if (hasScope(viewer, 'admin')) return diff;
  const { approval, ...changes } = diff;
  return { approval: showApproval(viewer, approval), ...(approval.about === 'launch' ? { changes: [] } : changes) };
}

/** An event as {@link showApproval} shows its approval, where it has one. */
export function showEvent(viewer: Viewer, event: ToolscoutEvent): ToolscoutEvent {
  return event.type === 'approval' ? { ...event, approval: showApproval(viewer, event.approval) } : event;
}
