import type { ServerDetails, ServerView } from '../../api/types.js';
import type { Tone } from '../../parts/states.js';
import { plural } from '../../text/format.js';

/** How a server is, in a word, a colour and a sentence. */
export interface ServerState {
  readonly word: string;
  readonly tone: Tone;
  readonly reason?: string;
}

/** How a server is. */
export function stateOf(
  server: Pick<ServerView, 'enabled' | 'knowledge' | 'health' | 'problem' | 'failure'>,
): ServerState {
  const reason = server.problem ?? server.failure?.reason ?? server.health.lastError;
  if (!server.enabled) return { word: 'disabled', tone: 'quiet', ...(server.problem && { reason: server.problem }) };
  if (server.problem !== undefined) return { word: 'needs attention', tone: 'bad', reason: server.problem };
  if (server.health.breaker === 'open') return { word: 'failing', tone: 'bad', ...(reason && { reason }) };
  if (server.knowledge === 'failed' || server.health.state === 'error')
    return { word: 'failing', tone: 'bad', ...(reason && { reason }) };
  if (server.knowledge === 'learning') return { word: 'learning tools', tone: 'info' };
  if (server.health.state === 'connected') return { word: 'connected', tone: 'ok' };
  if (server.knowledge === 'ready' || server.knowledge === 'stale') return { word: 'ready', tone: 'ok' };
  return { word: 'not started', tone: 'quiet' };
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
