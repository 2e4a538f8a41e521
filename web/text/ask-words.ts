import type { Ask } from '../api/types.js';

/** What a server asks for, by the kind of its question. */
const ASKS_FOR: Readonly<Record<string, string>> = {
  elicitation: 'asks you a question',
  sampling: 'asks for the answer of a model',
  roots: 'asks which folders it may use',
};

type Asked = Pick<Ask, 'kind' | 'server' | 'tool' | 'confirms'>;

/** Who asks, and for what: toolscout itself where a rule wants a yes, else the server. */
export function askTitle({ kind, server, tool, confirms }: Asked): string {
  if (confirms)
    return confirms.scope === 'tool'
      ? `toolscout asks: approve calls of ${server}:${tool}?`
      : `toolscout asks: approve this call of ${server}:${tool}?`;
  return `${server} ${ASKS_FOR[kind] ?? 'asks you'}`;
}

/** The question itself; hosts are told who asks in a line before it, which stands in the title here. */
export function questionText({ server }: Pick<Asked, 'server'>, message: string): string {
  const lead = `Server ${JSON.stringify(server)} asks:\n`;
  return message.startsWith(lead) ? message.slice(lead.length) : message;
}

/** The same where the call is not shown beside it. */
export function askLine(ask: Asked): string {
  const address = `${ask.server}:${ask.tool}`;
  if (ask.confirms) return `A call of ${address} waits for your yes`;
  return ask.kind === 'elicitation' || !Object.hasOwn(ASKS_FOR, ask.kind)
    ? `${address} waits for your answer`
    : `${address} waits for you: it ${ASKS_FOR[ask.kind]}`;
}

/** What the two ways not to answer a question tell the server. */
export const WITHOUT_ANSWER =
  'Decline tells the server that you say no (decline). Dismiss tells it that you closed the question without an answer (cancel). The tool goes on either way.';

/** What is said beside a result that was made without an answer. */
export function unansweredText(actions: readonly string[]): string | undefined {
  const last = actions.findLast((action) => action === 'decline' || action === 'cancel');
  if (last === undefined) return undefined;
  const did = last === 'decline' ? 'declined' : 'dismissed';
  return `You ${did} a question of the server. This is what the tool answered without it.`;
}

/** What a yes to a question about one's own call holds for. */
export function scopeText(scope: NonNullable<Ask['confirms']>['scope']): string {
  return scope === 'tool'
    ? 'A yes holds for every further call of this tool that you make, for 30 days, as long as the tool stays the same.'
    : 'A yes holds for this call and its arguments, once.';
}
