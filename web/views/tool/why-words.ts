import type { Why } from '../../api/types.js';
import { hrefTo } from '../../app/router.js';

/** The view where it is decided that agents do not get a tool; `undefined` where it is the server itself. */
export function decidedAt(
  server: string,
  tool: string,
  { because }: Pick<Why, 'because'>,
): { readonly href: string; readonly label: string } | undefined {
  if (because === 'approval' || because === 'quarantine')
    return { href: hrefTo('approvals', [`${server}:${tool}`]), label: 'See what waits for approval' };
  if (because === 'rejected') return { href: hrefTo('approvals', [`${server}:${tool}`]), label: 'Look at it again' };
  return because === 'rule' ? { href: hrefTo('rules'), label: 'Open the rules' } : undefined;
}

/** What stands above the reason: whether there is such a tool at all. */
export function headingOf({ because, reason }: Pick<Why, 'because' | 'reason'>): string {
  return because === 'unknown-tool' || isUnknownServer({ because, reason })
    ? 'There is no such tool.'
    : 'Agents do not get this tool.';
}

/** Whether the server is not configured: then it has no page. */
export function isUnknownServer({ because, reason }: Pick<Why, 'because' | 'reason'>): boolean {
  return because === 'server' && reason.startsWith('No server ');
}
