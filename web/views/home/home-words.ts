import type { Attention, Overview } from '../../api/types.js';
import { hrefTo } from '../../app/router.js';
import { formatCount, plural } from '../../text/format.js';

/** How the servers are, under their number. */
export function serversNote(servers: Overview['servers']): string {
  const well = servers.ready + servers.stale;
  const disabled = servers.total - servers.enabled;
  const unusable = servers.off - disabled;
  return [
    well === servers.total ? 'all are known' : `${well} known`,
    servers.failed > 0 && `${servers.failed} failing`,
    servers.learning > 0 && `${servers.learning} learning`,
    unusable > 0 && `${unusable} ${unusable === 1 ? 'needs' : 'need'} attention`,
    disabled > 0 && `${disabled} disabled`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Which tools agents do not get, under the number of those they get; `undefined` where they get all. */
export function missingNote(
  { disabled, pending, quarantined }: Pick<Overview['tools'], 'disabled' | 'pending' | 'quarantined'>,
  { failed, off }: Pick<Overview['servers'], 'failed' | 'off'>,
): string | undefined {
  const held = disabled + pending + quarantined;
  const servers = failed + off;
  const parts = [
    held > 0 && `${formatCount(held)} held back`,
    servers > 0 && `${plural(servers, 'server')} ${servers === 1 ? 'gives' : 'give'} none`,
  ].filter(Boolean);
  return parts.length === 0 ? undefined : `${parts.join(', ')}: see why`;
}

/** How the calls of a day ended, under their number. */
export function callsNote(calls: number, failed: number, waiting = 0): string {
  if (calls === 0) return 'none yet';
  const ended = failed === 0 ? 'none failed' : `${formatCount(failed)} did not succeed`;
  return waiting === 0 ? ended : `${ended}, ${formatCount(waiting)} needed a yes`;
}

/** What the button says that mends a thing of this kind. */
const ACTIONS: Readonly<Record<Exclude<Attention['kind'], 'approval' | 'pending-call'>, string>> = {
  store: 'Accept the store',
  'store-failing': 'Try again',
  config: 'Read it again',
  'config-pending': 'Approve the config',
  'config-rejected': 'Read it again',
  'source-kept': 'Read it again',
  'server-failed': 'Try again',
  'server-unusable': 'Try again',
  'server-resting': 'Connect now',
  'sign-in': 'Sign in',
};

/** The button that mends it at once; `undefined` where it must be looked at first, or where there is none. */
export function actionLabel({ kind, action }: Pick<Attention, 'kind' | 'action'>): string | undefined {
  // What changed is to be looked at before it is approved.
  return action === undefined || kind === 'approval' || kind === 'pending-call' ? undefined : ACTIONS[kind];
}

/** The view where more is to be seen about it. */
export function placeOf({
  kind,
  server,
  ref,
  title,
}: Pick<Attention, 'kind' | 'server' | 'ref' | 'title'>):
  | { readonly href: string; readonly label: string }
  | undefined {
  if (kind === 'approval')
    return { href: ref === undefined ? '#/approvals' : hrefTo('approvals', [ref]), label: 'Look at it' };
  if (kind === 'pending-call') return { href: '#/approvals', label: 'See the calls' };
  if (server !== undefined) return { href: hrefTo('servers', [server]), label: 'Open the server' };
  if (kind === 'config' && title.includes('toolRules[')) return { href: '#/rules', label: 'Open the rules' };
  return kind.startsWith('config') || kind === 'source-kept'
    ? { href: '#/config', label: 'Open the config' }
    : undefined;
}
