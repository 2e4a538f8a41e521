import type { Ask, JsonObject } from '../../api/types.js';
import { formatCount, formatDuration, plural } from '../../text/format.js';
import { workedText } from '../../text/took.js';

/** What a running call does. */
export function runningText(asks: ReadonlyArray<Pick<Ask, 'confirms'>>, isWorking = false): string {
  const questions = asks.length;
  if (asks.some(({ confirms }) => confirms)) return 'Waiting for your yes. Nothing was sent to the server yet.';
  if (questions === 0) return 'The tool is running…';
  if (isWorking) return `The tool is running, and has ${plural(questions, 'question')}…`;
  return questions === 1
    ? 'The tool waits for your answer.'
    : `The tool waits for your answers: ${questions} questions.`;
}

/** What a call cost, when its answer says so. */
export function tokensText(answer: JsonObject | undefined): string | undefined {
  const tokens = answer?.['tokens'] as { arguments?: number; returned?: number; withheld?: number } | undefined;
  if (!tokens) return undefined;
  const withheld = tokens.withheld ? `, ${formatCount(tokens.withheld)} kept back` : '';
  return `Tokens: arguments ${formatCount(tokens.arguments ?? 0)}, answer ${formatCount(tokens.returned ?? 0)}${withheld}`;
}

/** How long a call took, and how long it waited for the person who made it. */
export function tookText({ ms, askedMs }: { readonly ms: number; readonly askedMs: number }): string {
  const own = workedText(ms, askedMs);
  return askedMs === 0 ? own : `${own} + ${formatDuration(askedMs)} waiting for your answer`;
}
