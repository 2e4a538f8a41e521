import { isObject, type JsonObject } from '../kernel/json.js';
import { oneLine, printable } from '../kernel/text.js';
import type { CallToConfirm } from '../model/host.js';
import { ONCE_DAYS, scopeOf } from '../model/pending-call.js';
import type { AskedCall } from './subject.js';

/** Characters of the arguments that a person is shown; the rest is only counted. */
const MAX_ARGUMENTS = 4000;
const MAX_NAME = 200;

/** Arguments in one text, without anything that hides or moves text. */
export function shownArguments(args: JsonObject): string {
  const text = printable(JSON.stringify(args));
  if (text.length <= MAX_ARGUMENTS) return text;
  return `${text.slice(0, MAX_ARGUMENTS)}… (${text.length - MAX_ARGUMENTS} more characters are not shown)`;
}

/** A caller as people read it. */
function callerName({ principal, skill }: AskedCall['call']['viewer']): string {
  return skill === undefined ? principal : `${principal} (skill ${skill.id})`;
}

/** The params of `elicitation/create` that ask for a confirmation. */
export function questionFor({ call, server, tool, rule }: AskedCall): JsonObject {
  const isTool = scopeOf(rule) === 'tool';
  const scope = isTool ? `this caller to call this tool for ${ONCE_DAYS} days, with any arguments` : 'this one call';
  const asker = `${rule.reason.slice(0, 1).toUpperCase()}${rule.reason.slice(1)}`;
  const name = (text: string): string => oneLine(printable(text), MAX_NAME);
  return {
    mode: 'form',
    message: [
      // A server cannot begin like this: its questions are headed by its name.
      `toolscout asks: Allow ${scope}?`,
      `${asker} in the config of toolscout asks for this. Nothing was sent to the server yet.`,
      `Server: ${name(server.id)}`,
      `Tool: ${name(tool.name)}`,
      ...(isTool ? [`Caller: ${name(callerName(call.viewer))}`] : []),
      `Arguments: ${shownArguments(call.arguments)}`,
    ].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', description: `Allow ${scope}?`, enum: ['allow', 'reject'] },
      },
      required: ['decision'],
    },
  };
}

/** What the question is about, for hosts that tell it from a question of a server. */
export function callToConfirm({ call, rule }: AskedCall): CallToConfirm {
  return { rule: rule.reason, scope: scopeOf(rule), arguments: call.arguments };
}

/**
 * What a host answered: only an accepted form that says `allow` confirms the call; one that was dismissed is no answer.
 */
export function readAnswer(answer: unknown): 'yes' | 'no' | 'none' {
  if (!isObject(answer)) return 'none';
  const { action, content } = answer;
  if (action === 'accept') return isObject(content) && content['decision'] === 'allow' ? 'yes' : 'no';
  return action === 'decline' ? 'no' : 'none';
}
