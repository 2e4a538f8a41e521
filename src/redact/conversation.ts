import { createFieldMatcher } from '../kernel/patterns/field-glob.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { MASK } from '../kernel/secrets.js';
import type { Call } from '../model/call.js';
import type { Screen } from '../model/host.js';
import type { Action, Matchers } from './rules.js';
import { createWholeRedactor, type WholeRedactor } from './whole-redactor.js';

type Resumed = NonNullable<Call['resumed']>;

/** What is done to what a server receives. */
export interface Outgoing extends Pick<Screen, 'answer' | 'refusal'> {
  arguments(args: JsonObject): JsonObject;
  /** The `_meta` of a request, as far as it is the host's. */
  meta(meta: JsonObject): JsonObject;
  /** The parameters of every request that is not a call. */
  params(params: JsonObject): JsonObject;
  /** What a host answered to the questions of an earlier round; the state is the server's own and stays. */
  resumed(resumed: Resumed): Resumed;
}

/** What is done to what a caller gets. */
export interface Incoming extends Pick<Screen, 'question' | 'notice'> {
  /** A result; one that asks for input holds questions. */
  result(result: JsonObject): JsonObject;
  /** One text: a message, a reason. */
  text(text: string): string;
}

/**
 * The walk over data, and the one over what the protocol itself has named: there only patterns on values count, or a rule
 * for `*token*` would take `maxTokens` out of a question and a rule for `ssn` the field of a form that asks for it.
 */
interface Walks {
  readonly data: WholeRedactor;
  protocol(value: JsonObject): JsonObject;
}

function createWalks(matchers: Matchers): Walks {
  const { arguments: protocol } = createWholeRedactor({ ...matchers, fields: createFieldMatcher<Action>([]) });
  return { data: createWholeRedactor(matchers), protocol };
}

/** The fields of `source` named here, redacted by `redact`; all others as the protocol's own. */
function redactNamed(
  source: JsonObject,
  { protocol }: Walks,
  named: Readonly<Record<string, (value: JsonValue) => JsonValue>>,
): JsonObject {
  const rest = { ...source };
  const shown: JsonObject = {};
  for (const [name, redact] of Object.entries(named)) {
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    if (value === undefined) continue;
    delete rest[name];
    shown[name] = redact(value);
  }
  return { ...protocol(rest), ...shown };
}

/** One or several blocks of content: what kind each is, and that it has a text, is the protocol's. */
function redactContent(content: JsonValue, { data }: Walks): JsonValue {
  const redactBlock = (block: JsonValue): JsonValue => {
    const shown = data.value(block);
    if (!isObject(block) || !isObject(shown)) return shown;
    const { type, text } = block;
    return {
      ...shown,
      ...(typeof type === 'string' && { type: data.text(type) }),
      ...(typeof text === 'string' && shown['text'] === undefined && { text: MASK }),
    };
  };
  return Array.isArray(content) ? content.map(redactBlock) : redactBlock(content);
}

/** A form keeps its fields; what is filled in beforehand is data of the field it stands in. */
function redactForm(schema: JsonValue, { data, protocol }: Walks): JsonValue {
  if (!isObject(schema)) return data.value(schema);
  const shown = protocol(schema);
  const { properties } = shown;
  if (!isObject(properties)) return shown;
  const fields = Object.entries(properties).map(([name, field]) => {
    if (!isObject(field) || !data.isAbout(name)) return [name, field] as const;
    const { default: _filledIn, ...rest } = field;
    return [name, rest] as const;
  });
  return { ...shown, properties: Object.fromEntries(fields) };
}

/** What is done on the way in, under joined rules. */
export function createIncoming(matchers: Matchers): Incoming {
  const walks = createWalks(matchers);
  const { data } = walks;
  const anyValue = (value: JsonValue): JsonValue => data.value(value);
  const anyText = (value: JsonValue): JsonValue => (typeof value === 'string' ? data.text(value) : data.value(value));
  const redactMessage = (message: JsonValue): JsonValue =>
    isObject(message)
      ? redactNamed(message, walks, { content: (value) => redactContent(value, walks) })
      : data.value(message);

  const question = (params: JsonObject): JsonObject =>
    redactNamed(params, walks, {
      message: anyText,
      requestedSchema: (schema) => redactForm(schema, walks),
      systemPrompt: anyText,
      messages: (messages) => (Array.isArray(messages) ? messages.map(redactMessage) : data.value(messages)),
      metadata: anyValue,
    });

  const redactAsked = (asked: JsonObject): JsonObject => {
    const entries = Object.entries(asked).map(([key, each]) => {
      const ask = (params: JsonValue): JsonValue => (isObject(params) ? question(params) : data.value(params));
      return [key, isObject(each) ? redactNamed(each, walks, { params: ask }) : anyText(each ?? null)] as const;
    });
    return Object.fromEntries(entries);
  };

  return {
    result(result) {
      const { resultType, inputRequests, requestState, ...rest } = result;
      if (resultType !== 'input_required') return data.result(result);
      return {
        ...data.result(rest),
        resultType,
        ...(inputRequests !== undefined && {
          inputRequests: isObject(inputRequests) ? redactAsked(inputRequests) : data.value(inputRequests),
        }),
        // Only the server reads it, and it must come back unchanged.
        ...(requestState !== undefined && { requestState }),
      };
    },
    text: (text) => data.text(text),
    question,
    notice: (params) => redactNamed(params, walks, { data: anyValue }),
  };
}

/** What is done on the way out, under joined rules. */
export function createOutgoing(matchers: Matchers): Outgoing {
  const walks = createWalks(matchers);
  const { data } = walks;
  const anyValue = (value: JsonValue): JsonValue => data.value(value);

  const answer = (result: JsonObject): JsonObject => {
    // The answer to a form says what was done with it; that of a model has content of the kinds of a result.
    const isForm = result['action'] !== undefined;
    const content = isForm ? anyValue : (value: JsonValue): JsonValue => redactContent(value, walks);
    return redactNamed(result, walks, { content, roots: anyValue });
  };

  /** The word that is being completed is a value of the argument it is for. */
  const completed = (argument: JsonValue): JsonValue => {
    if (!isObject(argument) || typeof argument['name'] !== 'string') return data.value(argument);
    const { name, value = '' } = argument;
    const field = data.arguments({ [name]: value });
    return { ...argument, value: field[name] ?? MASK };
  };
  const context = (given: JsonValue): JsonValue =>
    isObject(given) ? redactNamed(given, walks, { arguments: anyValue }) : data.value(given);

  return {
    arguments: (args) => data.arguments(args),
    meta: (meta) => data.arguments(meta),
    params: (params) =>
      redactNamed(params, walks, { arguments: anyValue, argument: completed, context, _meta: anyValue }),
    answer,
    resumed({ inputResponses, ...rest }) {
      if (!inputResponses) return rest;
      const entries = Object.entries(inputResponses).map(
        ([key, each]) => [key, isObject(each) ? answer(each) : data.value(each ?? null)] as const,
      );
      return { ...rest, inputResponses: Object.fromEntries(entries) };
    },
    refusal: (error) =>
      redactNamed(error, walks, {
        code: (code) => (typeof code === 'number' ? code : data.value(code)),
        message: (text) => (typeof text === 'string' ? data.text(text) : data.value(text)),
        data: anyValue,
      }),
  };
}

const asItIs = (value: JsonObject): JsonObject => value;

/** What is done in both directions; `undefined` when no rule asks for anything. */
export function createScreen(incoming: Incoming | undefined, outgoing: Outgoing | undefined): Screen | undefined {
  if (!incoming && !outgoing) return undefined;
  const { question = asItIs, notice = asItIs } = incoming ?? {};
  const { answer = asItIs, refusal = asItIs } = outgoing ?? {};
  return { question, notice, answer, refusal };
}
