import { messageOf } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import { isDeeperThan, type JsonValue } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import type { Log } from '../kernel/log.js';
import { MASK } from '../kernel/secrets.js';
import type { AuditRecord } from '../model/audit-record.js';
import { withoutTakenOut } from './failure-message.js';
import type { NewRecord, Waiting } from './new-record.js';

/** Longest name, principal or trace id that is kept; callers may send any text in their place. */
const MAX_NAME = 500;

/** Makes a value fit to be stored, of a record about this server; of a message more is kept than of another text. */
export type Redact = (value: JsonValue, server: string | undefined, as?: 'message') => JsonValue;

/**
 * The record as it is stored: arguments hashed and redacted, every text bounded. Never throws, since
 * one bad record must not hold up the others; what cannot be redacted is masked whole.
 */
export function finishRecord({ id, time, entry }: Waiting, redact: Redact, log: Log): AuditRecord {
  const { arguments: raw, detail } = entry;
  const kept = (value: JsonValue): JsonValue => safely(value, (given) => redact(given, entry.server), log);
  const args = raw && kept(raw);
  const told = (message: string): string =>
    String(safely(message, () => redact(withoutTakenOut(message, raw, args), entry.server, 'message'), log));
  return {
    id,
    time,
    kind: bound(entry.kind),
    principal: bound(entry.principal),
    route: bound(entry.route),
    host: bound(entry.host),
    skill: bound(entry.skill),
    server: bound(entry.server),
    tool: bound(entry.tool),
    arguments: args,
    argumentsHash: raw && hash(raw, log),
    outcome: entry.outcome,
    code: entry.code,
    message: entry.message && told(entry.message),
    latencyMs: entry.latencyMs,
    waitedMs: entry.waitedMs,
    connectMs: entry.connectMs,
    askedMs: entry.askedMs,
    resultBytes: entry.resultBytes,
    tokens: counted(entry).tokens,
    era: entry.era,
    traceId: bound(entry.traceId),
    parent: bound(entry.parent),
    detail: detail === undefined ? undefined : kept(detail),
  };
}

/** A record that holds nothing for counting its tokens any more. */
export function counted(entry: NewRecord): NewRecord {
  const { countTokens, ...rest } = entry;
  return countTokens ? { ...rest, tokens: countTokens() } : entry;
}

function bound<Text extends string | undefined>(text: Text): Text {
  return (text && text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text) as Text;
}

function safely(value: JsonValue, redact: (value: JsonValue) => JsonValue, log: Log): JsonValue {
  try {
    const redacted = redact(value);
    // Thrown here and not in the store, where it would fail the whole batch.
    JSON.stringify(redacted);
    return redacted;
  } catch (thrown) {
    log.error('audit.redact-failed', { error: messageOf(thrown) });
    return MASK;
  }
}

function hash(value: JsonValue, log: Log): string | undefined {
  try {
    if (!isDeeperThan(value, LIMITS.depth)) return hashJson(value);
    log.warn('audit.hash-failed', { error: `arguments nest deeper than ${LIMITS.depth}` });
  } catch (thrown) {
    log.warn('audit.hash-failed', { error: messageOf(thrown) });
  }
  return undefined;
}
