import type { JsonObject } from '../../../kernel/json.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Whether this is one of the levels of the protocol. */
export function isLogLevel(level: unknown): level is string {
  return typeof level === 'string' && LEVELS.includes(level);
}

/** Whether a log message of a server is at or above the level a host asked for. */
export function isLoud(params: JsonObject | undefined, least: string): boolean {
  const level = LEVELS.indexOf(String(params?.['level']));
  return level === -1 || level >= LEVELS.indexOf(least);
}
