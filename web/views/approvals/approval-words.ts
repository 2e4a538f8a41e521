import type { Approval, ApprovalDiff, RulingReport } from '../../api/types.js';
import type { Tone } from '../../parts/states.js';
import { formatAgo, plural } from '../../text/format.js';
import type { Decision } from './decisions.js';

/** The colour of a risk. */
export const RISK_TONES: Readonly<Record<Approval['risk']['level'], Tone>> = {
  low: 'quiet',
  medium: 'warn',
  high: 'bad',
  critical: 'bad',
};

const RISK_ORDER: ReadonlyArray<Approval['risk']['level']> = ['critical', 'high', 'medium', 'low'];

/** The gravest first, then by name. */
export function compareRisk(a: Pick<Approval, 'risk' | 'ref'>, b: Pick<Approval, 'risk' | 'ref'>): number {
  return RISK_ORDER.indexOf(a.risk.level) - RISK_ORDER.indexOf(b.risk.level) || a.ref.localeCompare(b.ref);
}

/** The reasons of a risk: those that warn, and those that only inform. Requests of earlier versions do not tell them apart. */
export function riskReasons({ level, reasons, informs }: Approval['risk']): {
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
} {
  const notes = reasons.filter((reason) => informs?.includes(reason) ?? level === 'low');
  return { warnings: reasons.filter((reason) => !notes.includes(reason)), notes };
}

/** Where a reason shows: the field and the words. */
export function evidenceText({
  path,
  text,
}: Pick<NonNullable<ApprovalDiff['evidence']>[number], 'path' | 'text'>): string {
  const where = path === undefined || path === '' ? '' : ` in ${path.slice(1)}`;
  return `${where}${text === undefined ? '' : `: “${text}”`}`;
}

/** What a request is, in a word: new, or changed since it was trusted. */
export function newness({ pinned }: Pick<Approval, 'pinned'>): { readonly word: string; readonly tone: Tone } {
  return pinned === undefined ? { word: 'new', tone: 'info' } : { word: 'changed', tone: 'bad' };
}

const SKIPPED: Readonly<Record<string, string>> = {
  changed: 'it has changed since you looked',
  critical: 'its risk is critical',
};

/** Why nothing was decided about a request. */
export function skippedText({ ref, reason }: RulingReport['skipped'][number]): string {
  return `${ref} was skipped: ${SKIPPED[reason] ?? 'it was not shown'}.`;
}

/** What was decided about these requests, and that a no is not for ever. */
export function decidedText(refs: readonly string[], verb: 'approve' | 'reject'): string {
  const count = refs.length;
  const what = count === 1 ? refs[0]!.slice(0, 120) : plural(count, 'request');
  return verb === 'approve'
    ? `${what} approved. Under Decided you can take ${count === 1 ? 'this' : 'these'} back.`
    : `${what} rejected. Under Decided you can approve ${count === 1 ? 'it' : 'them'} after all.`;
}

/** What became of an approval that was taken back. */
export function takenBackText(ref: string): string {
  return `The approval of ${ref.slice(0, 120)} was taken back: agents do not get it. Under Decided you can approve it again.`;
}

/** The approval of a tool that can be taken back, of all of its server. */
export function approvalOf(approvals: readonly Approval[], tool: string, hash: string): Approval | undefined {
  return approvals.findLast(
    (one) => one.about === 'tool' && one.tool === tool && one.hash === hash && one.state === 'approved',
  );
}

const DECIDED: Partial<Record<Decision['state'], readonly [word: string, tone: Tone]>> = {
  approved: ['approved', 'ok'],
  used: ['approved and made', 'ok'],
  rejected: ['rejected', 'bad'],
  superseded: ['replaced before anyone decided', 'quiet'],
  expired: ['not decided in time', 'quiet'],
};

/** A decision in a word and a colour. */
export function decisionWord(state: Decision['state']): readonly [word: string, tone: Tone] {
  return DECIDED[state] ?? [state, 'quiet'];
}

/** Who said no to a request, and what that means. */
export function rejectedText({ ref, ruling }: Pick<Approval, 'ref' | 'ruling'>): string {
  const why = ruling?.reason ? `: ${ruling.reason}` : '';
  return `${ref} was rejected${ruling ? ` by ${ruling.by}` : ''}${why}. Agents do not get it unless you approve it after all.`;
}

/** When something changed, as far as that is known, and how many calls may have met the change. */
export function meanwhileText(
  { since, until, count, isMore }: NonNullable<ApprovalDiff['calls']>,
  now: number,
): string {
  const calls = count === 0 ? 'No call' : `${isMore ? 'At least ' : ''}${plural(count, 'call')}`;
  const were = count === 1 || count === 0 ? 'was' : 'were';
  return `The change was noticed ${formatAgo(until, now)}; it was last known to be unchanged ${formatAgo(since, now)}. ${calls} ${were} made in between.`;
}

/** JSON as a person reads it: the text of a string, which has lines, and anything else with a line for each field. */
export function readableJson(json: string): string {
  try {
    const value = JSON.parse(json) as unknown;
    if (typeof value === 'string') return value;
    // A number that loses digits on the way is shown as it was sent.
    return JSON.stringify(value) === json ? JSON.stringify(value, null, 2) : json;
  } catch {
    return json;
  }
}
