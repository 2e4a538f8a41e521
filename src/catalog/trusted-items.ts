import { itemName, seenItem, wordyCapabilities, type ItemKind, type Judgement } from '../approvals/index.js';
import type { UpstreamFacts } from '../discover/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import { remedyOfHold, type ItemHold } from '../model/hold.js';
import { fitsTemplate, foldName, foldTemplate, foldUri } from '../kernel/name-folding.js';

/** What a server has besides tools, as far as it is trusted (SEC-9, A39). */
export interface TrustedItems {
  /** What may be shown: the server's own description, and its prompts, resources and templates that are not held. */
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

interface Held {
  readonly kind: ItemKind;
  /** The name or address as it is listed. */
  readonly key: string;
  readonly hold: ItemHold;
}

/** One form for all spellings of what is named. */
function folded(kind: ItemKind, key: string): string {
  return itemName(kind, kind === 'prompts' ? foldName(key) : foldUri(key));
}

/** The facts of a server whose own description changed or is in doubt. */
function withoutWords({ instructions: _untrusted, info: _info, capabilities, ...rest }: UpstreamFacts): UpstreamFacts {
  const wordy = wordyCapabilities(capabilities);
  const plain = Object.entries(capabilities ?? {}).filter(([name]) => !Object.hasOwn(wordy, name));
  return { ...rest, ...(capabilities && { capabilities: Object.fromEntries(plain) }) };
}

/** What is trusted of a list; without a judgement all of it. */
export function trustedItems(server: string, list: UpstreamFacts, judgement: Judgement | undefined): TrustedItems {
  if (!judgement) return { facts: list, check: () => undefined };
  /** What is held, by kind and folded name: a server may take another spelling for the same (A39). */
  const held = new Map<string, Held>();
  /** The names of what is open, exactly as they are listed. */
  const listed = new Set<string>();
  const open = (kind: ItemKind, items: readonly JsonObject[] | undefined): JsonObject[] | undefined =>
    items?.filter((definition) => {
      const item = seenItem(kind, definition);
      const decision = judgement.judge(item);
      if (decision.status === 'enabled') listed.add(item.name);
      else {
        const key = item.name.slice(itemName(kind, '').length);
        held.set(folded(kind, key), { kind, key, hold: decision.hold });
      }
      return decision.status === 'enabled';
    });
  const prompts = open('prompts', list.prompts);
  const resources = open('resources', list.resources);
  const resourceTemplates = open('templates', list.resourceTemplates);
  const told = judgement.isPresentable ? list : withoutWords(list);

  const heldTemplates = [...held.values()].filter(({ kind }) => kind === 'templates');

  const refuse = ({ kind, key, hold }: Held): ToolscoutError => {
    const message = `The ${NOUNS[kind]} "${key}" of "${server}" is held: ${hold.reason}.`;
    return new ToolscoutError(hold.cause === 'changed' ? 'TOOL_CHANGED' : 'APPROVAL_REQUIRED', message, {
      remedy: remedyOfHold(server, itemName(kind, key), hold),
      delivered: false,
    });
  };
  /** The template that is held and that this address comes from, when no open one fits. */
  const heldTemplateOf = (uri: string): Held | undefined => {
    if (heldTemplates.length === 0) return undefined;
    const form = foldUri(uri);
    const template = heldTemplates.find(({ key }) => fitsTemplate(foldTemplate(key), form, false));
    const isOpen = ({ uriTemplate }: JsonObject): boolean =>
      fitsTemplate(foldTemplate(String(uriTemplate)), form, true);
    return template && !resourceTemplates?.some(isOpen) ? template : undefined;
  };
  /** What is held of what a request names, under this or another spelling. */
  const heldBy = (kind: 'prompts' | 'resources', key: string): Held | undefined => {
    if (held.size === 0 || listed.has(itemName(kind, key))) return undefined;
    const exact = held.get(folded(kind, key));
    if (exact || kind === 'prompts') return exact;
    if (listed.has(itemName('templates', key))) return undefined;
    return held.get(folded('templates', key)) ?? heldTemplateOf(key);
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
      const found = heldBy(kind, key);
      if (found) throw refuse(found);
      if (judgement.hold) throw refuse({ kind, key, hold: judgement.hold });
    },
  };
}
