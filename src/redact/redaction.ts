import type { JsonObject, JsonValue } from '../kernel/json.js';
import type { RedactionConfig } from '../model/config.js';
import type { Screen } from '../model/host.js';
import { createIncoming, createOutgoing, createScreen, type Incoming, type Outgoing } from './conversation.js';
import { defaultFields, findSecretForms } from './defaults.js';
import { compileRules, isAbout, joinRules, type Rule, type Where } from './rules.js';
import { createRecordRedactor, type RedactRecord } from './record-redactor.js';

/** What is redacted, where, for which server (NEG-6). */
export interface Redaction {
  /** Whether there are rules besides the default set: this check is the only cost to a call while there are none. */
  readonly hasRules: boolean;
  /** From now on these rules hold, besides the default set. */
  use(rules: readonly RedactionConfig[]): void;
  /** What is done to what is sent to a server; `undefined` when no rule asks for anything. */
  outgoing(server: string): Outgoing | undefined;
  /** What is done to what a server answers; `undefined` when no rule asks for anything. */
  incoming(server: string): Incoming | undefined;
  /** Redacts the requests and notifications of a server to its host, and the answers. */
  screen(server: string): Screen | undefined;
  /** A value as it may be stored: by the rules for logs, those for arguments, and the default set; of a message more is kept. */
  stored(value: JsonValue, server?: string, as?: 'message'): JsonValue;
  /** A value as an observer may see it: by the same rules, with more of long texts. */
  shown(value: JsonValue, server?: string): JsonValue;
  /** The fields of one line of the log. */
  logged(fields: Record<string, unknown>): Record<string, unknown>;
}

/** Longest text in one line of the log; a stack has to fit. */
const LOGGED_TEXT = 8000;

/** Longest message of a failure that is stored. */
const MESSAGE_TEXT = 500;

/** Servers whose rules are kept ready; names in records come from callers. */
const MAX_SERVERS = 1000;

interface Ready {
  readonly rules: readonly Rule[];
  readonly outgoing: Map<string, Outgoing | undefined>;
  readonly incoming: Map<string, Incoming | undefined>;
  readonly stored: Map<string, RedactRecord>;
  readonly messages: Map<string, RedactRecord>;
  readonly logged: Map<string, RedactRecord>;
}

function remembered<T>(kept: Map<string, T>, key: string, make: () => T): T {
  if (kept.has(key)) return kept.get(key)!;
  const made = make();
  if (kept.size >= MAX_SERVERS) kept.clear();
  kept.set(key, made);
  return made;
}

/** Redaction with the default set alone, until rules are set; `hide` removes the secrets in use from a text. */
export function createRedaction({
  hide = (text) => text,
}: { readonly hide?: (text: string) => string } = {}): Redaction {
  const prepare = (rules: readonly Rule[]): Ready => ({
    rules,
    outgoing: new Map(),
    incoming: new Map(),
    stored: new Map(),
    messages: new Map(),
    logged: new Map(),
  });
  const forms = [{ action: 'mask' as const, spans: findSecretForms }];
  let ready = prepare([]);

  const chosen = (server: string | undefined, ...where: Where[]): Rule[] =>
    ready.rules.filter((rule) => where.some((place) => rule.where.has(place)) && isAbout(rule, server));
  const outgoing = (server: string): Outgoing | undefined =>
    remembered(ready.outgoing, server, () => {
      const rules = chosen(server, 'arguments');
      return rules.length === 0 ? undefined : createOutgoing(joinRules(rules));
    });
  const incoming = (server: string): Incoming | undefined =>
    remembered(ready.incoming, server, () => {
      const rules = chosen(server, 'results');
      return rules.length === 0 ? undefined : createIncoming(joinRules(rules));
    });
  const keeper = (kept: Map<string, RedactRecord>, server: string | undefined, longest?: number): RedactRecord => {
    // Most rules name no server, and then one walk serves all.
    const key = ready.rules.some((rule) => rule.servers) ? `:${server ?? ''}` : '';
    return remembered(kept, key, () => {
      // What must not even be sent is not kept either.
      const rules = chosen(server, 'logs', 'arguments');
      return createRecordRedactor(joinRules(rules, defaultFields()), { forms, hide }, longest);
    });
  };

  const redaction: Redaction & { hasRules: boolean } = {
    hasRules: false,
    use(rules) {
      ready = prepare(compileRules(rules));
      redaction.hasRules = rules.length > 0;
    },
    outgoing: (server) => (ready.rules.length === 0 ? undefined : outgoing(server)),
    incoming: (server) => (ready.rules.length === 0 ? undefined : incoming(server)),
    screen: (server) => (ready.rules.length === 0 ? undefined : createScreen(incoming(server), outgoing(server))),
    stored: (value, server, as) =>
      (as === 'message' ? keeper(ready.messages, server, MESSAGE_TEXT) : keeper(ready.stored, server))(value),
    shown: (value, server) => keeper(ready.logged, server, LOGGED_TEXT)(value),
    logged(fields) {
      const { server } = fields;
      const redact = keeper(ready.logged, typeof server === 'string' ? server : undefined, LOGGED_TEXT);
      return redact(fields as JsonObject) as JsonObject;
    },
  };
  return redaction;
}
