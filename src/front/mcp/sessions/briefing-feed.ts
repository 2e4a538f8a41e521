import type { Gateway, ToolscoutEvent } from '../../../gateway/index.js';
import { messageOf } from '../../../kernel/errors.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import type { AgentBriefingEvent } from '../../../model/skill.js';

/** Briefings about skills for hosts, as log messages (NEG-4). */
export interface BriefingFeed {
  /**
   * Sends the host of this key every briefing it has not had yet, as params of `notifications/message`, until the answer
   * is called. A key that is new gets what is wrong now: the last briefing of each skill that is not ready.
   */
  follow(key: string, send: (params: JsonObject) => void): () => void;
  close(): void;
}

/** Hosts whose position is remembered; the one that was quiet longest is forgotten first. */
const MAX_KEYS = 1000;

const LEVELS = { INFO: 'info', WARNING: 'warning', SEVERE: 'error' } as const;

/** A briefing as the params of a log message. */
function messageFor(briefing: AgentBriefingEvent): JsonObject {
  return { level: LEVELS[briefing.severity], logger: 'toolscout', data: briefing as unknown as JsonObject };
}

interface Follower {
  readonly key: string;
  readonly send: (params: JsonObject) => void;
}

/** A feed of briefings from now on, and of the last one of each skill before. */
export function createBriefingFeed(gateway: Gateway, log: Log): BriefingFeed {
  /** The last briefing of each skill, with its place in the order of all. */
  const latest = new Map<string, { readonly place: number; readonly briefing: AgentBriefingEvent }>();
  const had = new Map<string, number>();
  const followers = new Set<Follower>();
  let place = 0;
  let filling: Promise<void> | undefined;

  const advance = (key: string): number => {
    const before = had.get(key) ?? 0;
    had.delete(key);
    had.set(key, place);
    const [oldest] = had.size > MAX_KEYS ? had.keys() : [];
    if (oldest !== undefined) had.delete(oldest);
    return before;
  };
  const deliver = ({ key, send }: Follower): void => {
    const isNew = !had.has(key);
    const before = advance(key);
    for (const { place: at, briefing } of latest.values()) {
      if (at > before && !(isNew && briefing.type === 'SKILL_READY')) send(messageFor(briefing));
    }
  };

  const take = (briefing: AgentBriefingEvent): void => {
    place += 1;
    latest.delete(briefing.skill_id);
    latest.set(briefing.skill_id, { place, briefing });
  };
  const stop = gateway.onEvent((event: ToolscoutEvent) => {
    if (event.type !== 'briefing') return;
    take(event.briefing);
    for (const follower of followers) deliver(follower);
  });

  /** Briefings from before this feed. A caller who may not see skills has none. */
  const fill = async (): Promise<void> => {
    try {
      for (const { briefing } of await gateway.skills.list()) {
        if (briefing && !latest.has(briefing.skill_id)) take(briefing);
      }
    } catch (thrown) {
      log.debug('mcp.no-skills', { reason: messageOf(thrown) });
    }
  };

  return {
    follow(key, send) {
      if (gateway.internal.loaded().config.skills.directories.length === 0) return () => undefined;
      const follower: Follower = { key, send };
      filling ??= fill();
      let isOver = false;
      const begin = async (): Promise<void> => {
        await filling;
        if (isOver) return;
        followers.add(follower);
        deliver(follower);
      };
      void begin();
      return () => {
        isOver = true;
        followers.delete(follower);
      };
    },
    close() {
      stop();
      followers.clear();
    },
  };
}
