import type { AuditRecord, Overview } from '../api/types.js';
import { formatCount, plural } from './format.js';

/** What the tokens of a call or an answer are, the same wherever they stand. */
export const COUNTED =
  'Tokens are those of the arguments that a model writes and of the text that it reads, also of a refusal. Traffic counts whole messages, so its numbers are larger.';

/** What a host is given before its first request. */
export function menuText({ menu, instructions, tools, adminTools }: Overview['tokens']): string {
  const admin = adminTools > 0 ? `, ${formatCount(adminTools)} of them because of serve --admin` : '';
  return `A menu of ${plural(tools, 'tool')}${admin}: ${formatCount(menu)} tokens, as for a menu in Audit. Instructions: ${formatCount(instructions)}.`;
}

/** What the tokens of a record are. */
export function tokensText({ kind, tokens }: Pick<AuditRecord, 'kind' | 'tokens'>): string | undefined {
  if (!tokens) return undefined;
  const { arguments: written, returned, withheld } = tokens;
  if (kind === 'menu') return `definitions of the tools ${formatCount(returned)}`;
  const kept = withheld > 0 ? `, ${formatCount(withheld)} kept back` : '';
  return `arguments ${formatCount(written)}, answer ${formatCount(returned)}${kept}`;
}
