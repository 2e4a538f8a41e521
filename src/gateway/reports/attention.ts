import { describePending } from '../../config/index.js';
import { addressOf } from '../../kernel/ids.js';
import { counted, oneLine, printable } from '../../kernel/text.js';
import type { Approval, RiskLevel } from '../../model/approval.js';
import type { PendingCall } from '../../model/pending-call.js';
import { hasScope } from '../../model/principal.js';
import type { Server } from '../../model/server.js';
import { DOUBT_PHRASES } from '../../model/store.js';
import type { Viewer } from '../../model/viewer.js';
import { isUsable } from '../../catalog/catalog.js';
import type { ServerView } from '../../catalog/views.js';
import type { Attention } from '../contract/studio.js';
import type { StoreStatus } from './store-status.js';
import type { Core } from '../core.js';
import { callerOf } from '../viewer.js';

/** How many entries of one kind are listed one by one; servers that fail together have one cause. */
const MAX_EACH = 20;
/** Tools that are named where several calls wait. */
const MAX_NAMED = 3;

const RISKS: readonly RiskLevel[] = ['low', 'medium', 'high', 'critical'];

const actionOn = (id: string, act: string): Attention['action'] => ({
  method: 'POST',
  path: `/v1/servers/${encodeURIComponent(id)}/${act}`,
});

/** What keeps a server from serving, and what mends it. */
function attentionOfServer(core: Core, view: ServerView): Attention | undefined {
  const { id, problem, health } = view;
  const about = { server: id, title: `"${id}"` };
  const server = core.catalog.servers.get(id);
  if (!server || !view.enabled || core.catalog.hold(id)) return undefined;
  if (!isUsable(server)) {
    const detail = problem ?? 'It cannot be used.';
    return {
      ...about,
      kind: 'server-unusable',
      severity: 'warning',
      title: `${about.title} cannot be used`,
      detail,
      remedy: { kind: 'check-config' },
    };
  }
  const failure = core.learner.lastFailure(id);
  if (failure) {
    const { error } = failure;
    const detail = core.hide(error.message);
    if (error.code === 'AUTHENTICATION_FAILED') {
      return {
        ...about,
        kind: 'sign-in',
        severity: 'warning',
        title: `${about.title} asks you to sign in`,
        detail,
        remedy: error.remedy,
        action: actionOn(id, 'sign-in'),
      };
    }
    return {
      ...about,
      kind: 'server-failed',
      severity: 'severe',
      title: `${about.title} does not answer`,
      detail,
      remedy: error.remedy,
      action: actionOn(id, 'discover'),
    };
  }
  if (health.breaker !== 'open' && health.state !== 'error') return undefined;
  const failed = health.lastError ?? 'Its last calls failed.';
  const isResting = health.breaker === 'open';
  const isLocal = server.transport.type === 'stdio';
  return {
    ...about,
    kind: 'server-resting',
    severity: 'warning',
    title: isResting
      ? `${about.title} failed and is left alone for a moment`
      : `${about.title} ${isLocal ? 'has stopped' : 'cannot be reached'}`,
    detail: isResting
      ? failed
      : `${failed.replace(/\.?$/, '.')} ${isLocal ? 'It starts again' : 'It is tried again'} at the next call.`,
    remedy: { kind: 'diagnose' },
    action: actionOn(id, 'connect'),
  };
}

/** What waits for a decision about one server, as one line. */
function attentionOfApprovals(server: Server, approvals: readonly Approval[]): Attention[] {
  const waiting = approvals.filter(({ state }) => state === 'pending');
  const [first] = waiting;
  if (!first) return [];
  const changed = waiting.filter(({ pinned }) => pinned !== undefined);
  const worst = RISKS.findLast((level) => waiting.some(({ risk }) => risk.level === level))!;
  const gravest = waiting.find(({ risk }) => risk.level === worst)!.risk;
  const why = gravest.reasons.find((reason) => gravest.informs?.includes(reason) !== true);
  const risk = `Highest risk: ${worst}${why === undefined ? '' : ` (${why})`}.`;
  const what = waiting.length === 1 ? `"${first.ref}"` : counted(waiting.length, 'request');
  const title = waiting.length === 1 ? `${what} waits for approval` : `${what} of "${server.id}" wait for approval`;
  const detail =
    changed.length > 0
      ? `${counted(changed.length, 'definition')} changed since ${changed.length === 1 ? 'it was' : 'they were'} trusted. ${risk}`
      : risk;
  return [
    {
      kind: 'approval',
      severity: changed.length > 0 || worst === 'critical' ? 'severe' : 'warning',
      title,
      detail,
      server: server.id,
      ref: waiting.length === 1 ? first.ref : server.id,
      remedy: { kind: changed.length > 0 ? 'review-change' : 'review', ref: first.ref },
    },
  ];
}

/** Characters of the arguments that are shown; Approvals has all of them. */
const MAX_ARGUMENTS = 120;

/** Who makes a call, and with which program. */
function askerOf({ principal, host }: PendingCall): string {
  return oneLine(printable(host === undefined ? principal : `${principal} with ${host}`), MAX_ARGUMENTS);
}

/** Pending calls as one line: an agent waits until a person decides. Arguments are for those who may decide. */
function attentionOfCalls(calls: readonly PendingCall[], maySeeArguments: boolean): Attention[] {
  const [first] = calls;
  if (!first) return [];
  const addresses = [...new Set(calls.map(({ server, tool }) => `"${addressOf(server, tool)}"`))];
  const named = addresses.slice(0, MAX_NAMED).join(', ');
  const rest = addresses.length - MAX_NAMED;
  const isOne = calls.length === 1;
  return [
    {
      kind: 'pending-call',
      severity: 'warning',
      title: isOne
        ? `A call of ${named} waits for confirmation`
        : `${counted(calls.length, 'call')} wait for confirmation`,
      detail: !isOne
        ? `${named}${rest > 0 ? ` and ${rest} more` : ''}.`
        : !maySeeArguments
          ? 'It is not sent before a person decides.'
          : `${askerOf(first)} asks with ${oneLine(printable(JSON.stringify(first.arguments)), MAX_ARGUMENTS)}.`,
      expiresAt: Math.min(...calls.map(({ expiresAt }) => expiresAt)),
      ...(isOne && { server: first.server, ref: first.id }),
      remedy: { kind: 'confirm-call', ...(isOne && { id: first.id }) },
    },
  ];
}

/** What is about all servers at once: the store and the config. */
function attentionOfAll(core: Core, store: Pick<StoreStatus, 'writable' | 'problem'>): Attention[] {
  const { loaded } = core;
  const found: Attention[] = [];
  if (!store.writable) {
    found.push({
      kind: 'store-failing',
      severity: 'severe',
      title: 'Nothing can be stored',
      detail: `What is in memory goes on; approvals and changes are refused. ${core.hide(store.problem ?? '')}`.trim(),
      remedy: { kind: 'advice', text: 'Correct what the message names; toolscout then stores again by itself.' },
    });
  }
  const doubt = core.approvals.doubt();
  if (doubt) {
    found.push({
      kind: 'store',
      severity: 'severe',
      title: 'The store must be accepted',
      detail: `No server is used, because ${DOUBT_PHRASES[doubt.reason]}.`,
      remedy: { kind: 'accept-store' },
      action: { method: 'POST', path: '/v1/store/accept' },
    });
  }
  const [rejected] = core.rejectedConfig ?? [];
  if (rejected) {
    const what = rejected.path === '' ? rejected.message : `${rejected.path}: ${rejected.message}`;
    found.push({
      kind: 'config-rejected',
      severity: 'severe',
      title: 'The config file on disk is not used',
      detail: `${/[.?!]$/.test(what) ? what : `${what}.`} The previous config stays in force.`,
      remedy: { kind: 'check-config' },
    });
  }
  if (loaded.pending) {
    const { message, next } = describePending(loaded.pending);
    const remedy = { kind: 'configure', what: next } as const;
    found.push({
      kind: 'config-pending',
      severity: 'warning',
      title: 'A config file waits for approval',
      detail: message,
      remedy,
    });
  }
  const told = new Set(loaded.servers.map(({ problem }) => problem));
  for (const { path, message } of loaded.warnings) {
    if (told.has(message)) continue;
    found.push({
      kind: 'config',
      severity: 'warning',
      title: `Config: ${path}`,
      detail: core.hide(message),
      remedy: { kind: 'check-config' },
    });
  }
  for (const { path, message } of loaded.keptSources) {
    found.push({
      kind: 'source-kept',
      severity: 'warning',
      title: `${path} cannot be read`,
      detail: core.hide(message),
      remedy: { kind: 'check-config' },
    });
  }
  return found;
}

const ORDER: ReadonlyArray<Attention['severity']> = ['severe', 'warning', 'info'];

/** What ends by itself comes first: somebody waits for it, and everything else is still there later. */
const placeOf = ({ severity, expiresAt }: Attention): number =>
  expiresAt === undefined ? ORDER.indexOf(severity) : -1;

/** What a viewer should look at: what expires, then the gravest. */
export function attentionFor(
  core: Core,
  viewer: Viewer,
  views: readonly ServerView[],
  { waiting, store }: { readonly waiting: readonly PendingCall[]; readonly store: StoreStatus },
): Attention[] {
  const caller = callerOf(viewer);
  const servers = views.flatMap((view) => attentionOfServer(core, view) ?? []);
  const approvals = views.flatMap(({ id }) => {
    const server = core.catalog.servers.get(id);
    return server ? attentionOfApprovals(server, core.approvals.list([server])) : [];
  });
  return [
    ...(caller.isLimited
      ? []
      : [...attentionOfAll(core, store), ...attentionOfCalls(waiting, hasScope(viewer, 'admin'))]),
    ...approvals.slice(0, MAX_EACH),
    ...servers.slice(0, MAX_EACH),
  ].toSorted((a, b) => placeOf(a) - placeOf(b));
}
