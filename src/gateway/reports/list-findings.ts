import type { JsonObject } from '../../kernel/json.js';
import { counted, oneLine, printable } from '../../kernel/text.js';
import {
  strictPrompt,
  strictResource,
  strictResourceTemplate,
  strictTool,
  type Strict,
} from '../../protocol/strict-items.js';
import type { Tool } from '../../model/tool.js';
import type { LearnedList } from '../../catalog/catalog.js';

/** What a list of a server holds. */
/** What an entry of a list is. */
export type ListedKind = 'tool' | 'prompt' | 'resource' | 'resource template';

/** Entries of the lists of one server that hosts are shown repaired, or not at all. */
export interface ListFindings {
  readonly server: string;
  readonly repaired: ReadonlyArray<{
    readonly kind: ListedKind;
    readonly name: string;
    readonly repairs: readonly string[];
  }>;
  readonly leftOut: ReadonlyArray<{ readonly kind: ListedKind; readonly name: string; readonly reason: string }>;
}

const KINDS: Readonly<Record<string, ListedKind>> = {
  'tools/list': 'tool',
  'prompts/list': 'prompt',
  'resources/list': 'resource',
  'resources/templates/list': 'resource template',
};

/** Entries that are named in one line. */
const MAX_NAMED = 3;

function shown(name: unknown): string {
  return printable(oneLine(String(name), 80));
}

/** Where resources keep their own URIs, one whose URI is not absolute is left out. */
function withoutAddress({ uri }: JsonObject, result: Strict): Strict {
  if ('fault' in result || URL.canParse(String(uri))) return result;
  return { ...result, repairs: [...result.repairs, 'left out at /servers/ID/mcp: its uri is not absolute'] };
}

/** Looks through the lists of one server. */
export function findListFaults(server: string, tools: readonly Tool[], list: LearnedList | undefined): ListFindings {
  const repaired: Array<ListFindings['repaired'][number]> = [];
  const leftOut: Array<ListFindings['leftOut'][number]> = (list?.leftOut ?? []).map(
    ({ method, index, name, reason }) => ({
      kind: KINDS[method] ?? 'tool',
      name: name ?? `entry ${index + 1}`,
      reason,
    }),
  );
  const look = (kind: ListedKind, name: unknown, result: Strict): void => {
    if ('fault' in result) leftOut.push({ kind, name: shown(name), reason: result.fault });
    else if (result.repairs.length > 0) repaired.push({ kind, name: shown(name), repairs: result.repairs });
  };
  const lookAt = (
    kind: ListedKind,
    key: string,
    entries: readonly JsonObject[] | undefined,
    strict: (entry: JsonObject) => Strict,
  ): void => {
    for (const entry of entries ?? []) look(kind, entry[key], strict(entry));
  };
  for (const { name, definition } of tools) look('tool', name, strictTool(definition));
  lookAt('prompt', 'name', list?.prompts, strictPrompt);
  lookAt('resource', 'uri', list?.resources, (entry) => withoutAddress(entry, strictResource(entry)));
  lookAt('resource template', 'uriTemplate', list?.resourceTemplates, strictResourceTemplate);
  return { server, repaired, leftOut };
}

function named(
  entries: ReadonlyArray<{ readonly kind: ListedKind; readonly name: string }>,
  said: readonly string[],
): string {
  const first = entries.slice(0, MAX_NAMED).map(({ kind, name }, at) => `${kind} ${name} (${said[at]})`);
  const more = entries.length - first.length;
  return `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The same in one line; `undefined` when there is nothing to say. */
export function tellListFaults({ repaired, leftOut }: ListFindings): string | undefined {
  const parts = [
    ...(leftOut.length > 0
      ? [
          `${counted(leftOut.length, 'malformed entry', 'malformed entries')} left out: ${named(
            leftOut,
            leftOut.map(({ reason }) => reason),
          )}`,
        ]
      : []),
    ...(repaired.length > 0
      ? [
          `${counted(repaired.length, 'entry', 'entries')} repaired: ${named(
            repaired,
            repaired.map(({ repairs }) => repairs.join('; ')),
          )}`,
        ]
      : []),
  ];
  return parts.length > 0 ? parts.join('; ') : undefined;
}
