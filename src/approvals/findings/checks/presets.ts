import { isObject, type JsonObject, type JsonValue } from '../../../kernel/json.js';
import type { Check, Sign } from '../check.js';
import { splitCamel } from '../fold.js';

/** Parameters and levels of a schema that are looked at. */
const MAX_PARAMETERS = 1000;
const MAX_DEPTH = 8;
/** Characters of a preset that are looked at. */
const MAX_PRESET = 2000;

/** An address of mail, or one on the network with its host. */
const ADDRESS = /(?:^|[\s:=<"'])(?:[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/"]|[\w.+-]{1,64}@[\w-]{1,63}\.[\w-])/i;
/** The machine itself, and people of examples. */
const NOT_SENT = /localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|@example\.|\b(?:you|user|name|jane|john)\b[^"\s]{0,20}@/i;
/** Parameters that say where something goes. The address of a service that is asked (`base_url`, `instance`) does not count. */
const GOES =
  /(?:^| )(?:to|cc|bcc|recipients?|notif\w*|forward\w*|callbacks?|webhooks?|hook|deliver\w*|cop(?:y|ies)|mirrors?|reply to|on [a-z]+|destinations?|sinks?|reports?|report to|share\w*|send\w*|publish\w*|subscribers?|watchers?|invite\w*|collectors?|relay|also|archive|audit|log|telemetry|ping|mail|email|payout\w*|beneficiary|wallet|tunnel|sidecars?)(?: |$)/;

/** Parameters that stand for a person's confirmation. */
const CONFIRMS =
  /^(?:user )?(?:confirm(?:ed|ation)?|ack(?:nowledged?)?|approved?|consent(?:ed| given)?|i understand|agreed?)$/;
const YES = /^(?:yes|i[- _]?understand|confirmed|approved|agreed)$/i;
/** Parameters that turn off what protects. */
const UNGUARDED =
  /^(?:bypass|skip (?:confirm|review|check|approval|verif|valid|prompt|warn|backup)|no (?:confirm|prompt|verify|backup)|auto (?:approve|confirm|accept)|override|suppress|disable (?:audit|log|check|safe|sandbox|verif|valid)|unsafe|insecure|as admin|sudo|elevat)/;

interface Parameter {
  readonly name: string;
  readonly schema: JsonObject;
}

function parametersIn(schema: JsonValue | undefined): Parameter[] {
  const found: Parameter[] = [];
  const look = (value: JsonValue | undefined, depth: number): void => {
    if (depth > MAX_DEPTH || found.length >= MAX_PARAMETERS || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value.slice(0, MAX_PARAMETERS)) look(each, depth + 1);
      return;
    }
    const { properties, items, anyOf, oneOf, allOf } = value as JsonObject;
    if (isObject(properties)) {
      for (const [key, each] of Object.entries(properties).slice(0, MAX_PARAMETERS)) {
        if (!isObject(each)) continue;
        found.push({
          name: splitCamel(key)
            .toLowerCase()
            .replaceAll(/[_\-. ]+/g, ' ')
            .trim(),
          schema: each,
        });
        look(each, depth + 1);
      }
    }
    for (const inner of [items, anyOf, oneOf, allOf]) look(inner, depth + 1);
  };
  look(schema, 0);
  return found;
}

/** The values that a parameter has unless it is told otherwise. */
function presetsOf({ default: preset, const: only, enum: choices }: JsonObject): JsonValue[] {
  const single = Array.isArray(choices) && choices.length === 1 ? choices : [];
  return [preset, only, ...single].filter((value) => value !== undefined);
}

const isAddress = (preset: JsonValue): boolean => {
  const text = JSON.stringify(preset).slice(0, MAX_PRESET);
  return ADDRESS.test(text) && !NOT_SENT.test(text);
};
const isYes = (preset: JsonValue): boolean => preset === true || (typeof preset === 'string' && YES.test(preset));

/** Parameters that have a value which the caller should have chosen. */
export const presets: Check = {
  name: 'presets',
  about: 'Parameters with a preset that the caller should choose: who gets a copy, whether a person agreed',
  find({ definition }) {
    const signs: Sign[] = [];
    for (const { name, schema } of parametersIn(definition['inputSchema'])) {
      const values = presetsOf(schema);
      if (values.length === 0) continue;
      if (GOES.test(name) && values.some(isAddress))
        signs.push({ reason: 'sends to an address that it brings itself', weight: 4 });
      if (CONFIRMS.test(name) && values.some(isYes))
        signs.push({ reason: 'takes a confirmation for given', weight: 4 });
      if (UNGUARDED.test(name) && values.includes(true))
        signs.push({ reason: 'turns off a safeguard unless it is told otherwise', weight: 2 });
    }
    return signs;
  },
};
