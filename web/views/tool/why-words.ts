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
