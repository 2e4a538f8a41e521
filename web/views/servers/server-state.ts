import type { ServerDetails, ServerView } from '../../api/types.js';
import type { Tone } from '../../parts/states.js';
import { formatCount, formatDuration, formatTime, plural } from '../../text/format.js';

/** How a server is: in a word, a colour and a line. */
export interface ServerState {
  readonly word: string;
  readonly tone: Tone;
  /** What the next call of an agent meets, and why: the same for every state. */
  readonly line: string;
  /** What is wrong, where something is. */
  readonly reason?: string;
}

type Shown = Pick<
  ServerView,
  'enabled' | 'knowledge' | 'health' | 'problem' | 'failure' | 'tools' | 'disabledTools'
> & {
  readonly transport: Pick<ServerView['transport'], 'type'>;
};

/** Calls do not reach the server, and why. */
function troubled(word: string, what: string, reason: string | undefined): ServerState {
  return { word, tone: 'bad', line: reason ? `${what}: ${reason}` : `${what}.`, ...(reason && { reason }) };
}

function withoutTools(held: number): ServerState {
  if (held === 0) return { word: 'no tools', tone: 'quiet', line: 'There is nothing to call: it has no tools.' };
  const what = held === 1 ? 'its only tool is' : `all its ${formatCount(held)} tools are`;
  return { word: 'held back', tone: 'warn', line: `No call reaches it: ${what} held back.` };
}

/** What a reason says before the cause when a server is left alone for a while: the state says that already. */
const LEFT_ALONE = /^Server ".*?" failed [\d,]+ times in a row and is not called for now.*? Last error: /s;

function causeOf(reason: string | undefined): string | undefined {
  return reason?.replace(LEFT_ALONE, '');
}

/** How a server is. */
export function stateOf(server: Shown): ServerState {
  const { enabled, knowledge, health, problem, transport } = server;
  const reason = causeOf(problem ?? server.failure?.reason ?? health.lastError);
  const isLocal = transport.type === 'stdio';
  if (!enabled) return { word: 'disabled', tone: 'quiet', line: 'No call reaches it: it is disabled.' };
  if (knowledge === 'failed') return troubled('failing', 'No call reaches it, for it does not answer', reason);
  if (problem !== undefined) return troubled('needs attention', 'No call reaches it', problem);
  if (health.breaker === 'open')
    return troubled('failing', 'Calls fail for a moment, after it failed several times', reason);
  if (health.state === 'error')
    return troubled('failing', `The next call ${isLocal ? 'starts it again; it stopped' : 'tries it again'}`, reason);
  if (knowledge === 'learning')
    return {
      word: 'learning tools',
      tone: 'info',
      line: 'Calls wait until its tools are known; it is asked for them now.',
    };
  const isKnown = knowledge === 'ready' || knowledge === 'stale';
  if (isKnown && server.tools === 0) return withoutTools(server.disabledTools);
  if (health.state === 'connected') return { word: 'connected', tone: 'ok', line: 'Calls reach it at once.' };
  const next = isLocal ? 'starts it' : 'connects to it';
  if (isKnown) return { word: 'ready', tone: 'ok', line: `The next call ${next}.` };
  return {
    word: isLocal ? 'not started' : 'not connected',
    tone: 'quiet',
    line: `The next search ${next} and asks for its tools.`,
  };
}

type Counts = ServerDetails['toolCounts'];

/** What learning the tools of a server again led to, as the rest of a sentence about it. */
export function learnedText(before: Counts, after: Counts): string {
  const changed = after.quarantined - before.quarantined;
  const added = after.pending - before.pending;
  const news = [
    changed > 0 && `${plural(changed, 'tool')} changed and ${changed === 1 ? 'waits' : 'wait'} for approval`,
    added > 0 && `${plural(added, 'new tool')} ${added === 1 ? 'waits' : 'wait'} for approval`,
  ].filter(Boolean);
  if (news.length > 0) return `was asked: ${news.join(', ')}.`;
  return `has ${plural(after.total, 'tool')}${after.total === before.total ? ', as before' : ` instead of ${before.total}`}.`;
}

type Latency = ServerDetails['latency'];

const WORDS = { call: ['call', 'calls'], check: ['ping', 'pings'] } as const;

/** How fast a server answered: calls and pings apart, because a ping says nothing about a tool. */
export function latencyText(latency: Latency): string {
  return (['call', 'check'] as const).flatMap((by) => speedText(latency, by) ?? []).join('; ');
}

function speedText(latency: Latency, by: Latency[number]['by']): string | undefined {
  const all = latency.filter((each) => each.by === by);
  const times = all
    .filter(({ ok }) => ok)
    .map(({ ms }) => ms)
    .toSorted((a, b) => a - b);
  const count = plural(all.length, WORDS[by][0], WORDS[by][1]);
  if (all.length === 0) return undefined;
  if (times.length === 0) return `${count}, ${all.length === 1 ? 'which' : 'all of which'} failed`;
  const median = formatDuration(times[Math.floor((times.length - 1) / 2)]!);
  const failed = all.length - times.length;
  return `${count}, median ${median}, slowest ${formatDuration(times.at(-1)!)}${failed > 0 ? `, ${formatCount(failed)} failed` : ''}`;
}

/** Failures that are named, the newest first. */
const MAX_FAILED = 3;

/** When a server failed to answer, and what it was asked; empty where it always answered. */
export function failedText(latency: Latency): string {
  const failed = latency.filter(({ ok }) => !ok).toReversed();
  if (failed.length === 0) return '';
  const named = failed.slice(0, MAX_FAILED).map(({ at, by }) => `a ${WORDS[by][0]} at ${formatTime(at)}`);
  const more = failed.length - named.length;
  return `Failed: ${named.join(', ')}${more > 0 ? `, and ${formatCount(more)} before` : ''}`;
}

/** How long the server took for a ping, said to be one: a call of a tool may take much longer. */
export function pingText(latencyMs: number | undefined): string {
  return latencyMs === undefined ? '' : `ping ${formatDuration(latencyMs)}`;
}

/** How many tools agents get, and how many not. */
export function offeredText(offered: number, held: number): string {
  return `${plural(offered, 'tool')} offered${held > 0 ? `, ${formatCount(held)} held back` : ''}`;
}

/** What stands in columns of a wide page, as a line of a narrow one. */
export function narrowFacts({
  tools,
  disabledTools,
  health,
}: Pick<ServerView, 'tools' | 'disabledTools' | 'health'>): string {
  const offered = tools + disabledTools > 0 && offeredText(tools, disabledTools);
  return [offered, pingText(health.latencyMs)].filter(Boolean).join(' · ');
}
