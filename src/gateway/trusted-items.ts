import { itemName, seenItem, wordyCapabilities, type ItemKind, type Judgement } from '../approvals/index.js';
import type { UpstreamFacts } from '../discover/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import { isObject, type JsonObject } from '../kernel/json.js';

/** What a server has besides tools, as far as it is trusted (SEC-9, A39). */
export interface TrustedItems {
  /** What may be shown: what the server says of itself, and its prompts, resources and templates that are not held. */
  readonly facts: UpstreamFacts;
  /**
   * Refuses a request that is about something that is held.
   *
   * @throws ToolscoutError `APPROVAL_REQUIRED` or `TOOL_CHANGED`
   */
  check(method: string, params: JsonObject): void;
}

const NOUNS: Readonly<Record<ItemKind, string>> = {
  prompts: 'prompt',
  resources: 'resource',
  templates: 'resource template',
};

/** What a request is about; `undefined` when it names nothing. */
function subjectOf(method: string, params: JsonObject): { kind: 'prompts' | 'resources'; key: string } | undefined {
  const isCompletion = method === 'completion/complete';
  const ref = isCompletion && isObject(params['ref']) ? params['ref'] : params;
  if (isCompletion && ref['type'] !== 'ref/prompt' && ref['type'] !== 'ref/resource') {
    throw new ToolscoutError(
      'INVALID_REQUEST',
      'completion/complete needs a ref of type "ref/prompt" or "ref/resource".',
    );
  }
  const { name, uri } = ref;
  const isPrompt = method === 'prompts/get' || ref['type'] === 'ref/prompt';
  if (isPrompt) return typeof name === 'string' ? { kind: 'prompts', key: name } : undefined;
  return typeof uri === 'string' ? { kind: 'resources', key: uri } : undefined;
}

/** Whether an address may come from a template (RFC 6570); any text may stand for a variable. */
function fits(template: string, uri: string): boolean {
  const [first = '', ...rest] = template.split(/\{[^{}]*\}/);
  const last = rest.pop();
  if (last === undefined || !uri.startsWith(first)) return uri === template;
  let from = first.length;
  for (const text of rest) {
    const at = uri.indexOf(text, from);
    if (at === -1) return false;
    from = at + text.length;
  }
  return uri.length - last.length >= from && uri.endsWith(last);
}

/** What may be told of a server that changed what it says of itself, or of which it is doubtful. */
function withoutWords({ instructions: _untrusted, info: _info, capabilities, ...rest }: UpstreamFacts): UpstreamFacts {
  const wordy = wordyCapabilities(capabilities);
  const plain = Object.entries(capabilities ?? {}).filter(([name]) => !Object.hasOwn(wordy, name));
  return { ...rest, ...(capabilities && { capabilities: Object.fromEntries(plain) }) };
}

/** What is trusted of a list; without a judgement all of it. */
export function trustedItems(server: string, list: UpstreamFacts, judgement: Judgement | undefined): TrustedItems {
  if (!judgement) return { facts: list, check: () => undefined };
  /** Why something is held, by the name it is pinned under. */
  const held = new Map<string, string>();
  const open = (kind: ItemKind, items: readonly JsonObject[] | undefined): JsonObject[] | undefined =>
    items?.filter((definition) => {
      const item = seenItem(kind, definition);
      const { status, reason = 'it waits for approval' } = judgement.judge(item);
      if (status !== 'enabled') held.set(item.name, reason);
      return status === 'enabled';
    });
  const prompts = open('prompts', list.prompts);
  const resources = open('resources', list.resources);
  const resourceTemplates = open('templates', list.resourceTemplates);
  const told = judgement.isPresentable ? list : withoutWords(list);

  const refuse = (kind: ItemKind, key: string, reason: string): ToolscoutError => {
    const ref = addressOf(server, itemName(kind, key));
    const isChange = reason.includes('changed');
    const message = `The ${NOUNS[kind]} "${key}" of "${server}" is held: ${reason}.`;
    return new ToolscoutError(isChange ? 'TOOL_CHANGED' : 'APPROVAL_REQUIRED', message, {
      suggestion: `Look at it with: toolscout diff ${ref}; then run: toolscout approve ${ref}`,
      delivered: false,
    });
  };
  /** The template that is held and that this address comes from, when no open one fits. */
  const heldTemplateOf = (uri: string): string | undefined => {
    if (held.size === 0 || resourceTemplates?.some(({ uriTemplate }) => fits(String(uriTemplate), uri)))
      return undefined;
    const all = list.resourceTemplates?.map(({ uriTemplate }) => String(uriTemplate)) ?? [];
    return all.find((template) => held.has(itemName('templates', template)) && fits(template, uri));
  };

  return {
    facts: {
      ...told,
      ...(prompts && { prompts }),
      ...(resources && { resources }),
      ...(resourceTemplates && { resourceTemplates }),
    },
    check(method, params) {
      const subject = subjectOf(method, params);
      if (!subject) return;
      const { kind, key } = subject;
      const reason = held.get(itemName(kind, key));
      if (reason !== undefined) throw refuse(kind, key, reason);
      const written = kind === 'resources' ? held.get(itemName('templates', key)) : undefined;
      if (written !== undefined) throw refuse('templates', key, written);
      if (judgement.isChanged) {
        throw refuse(kind, key, 'what its server says of itself changed after it was trusted');
      }
      if (kind === 'prompts' || resources?.some(({ uri }) => uri === key)) return;
      const template = heldTemplateOf(key);
      if (template !== undefined) throw refuse('templates', template, held.get(itemName('templates', template))!);
    },
  };
}
