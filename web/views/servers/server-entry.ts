import type { Json, JsonObject } from '../../api/types.js';

/** What the form for a server asks. */
export interface EntryForm {
  readonly id: string;
  readonly kind: 'command' | 'url';
  readonly command: string;
  /** One argument a line. */
  readonly args: string;
  readonly url: string;
  /** One `NAME=value` a line: variables of a command, headers of a URL. */
  readonly pairs: string;
  readonly title: string;
}

/** An empty form. */
export const EMPTY_ENTRY: EntryForm = { id: '', kind: 'command', command: '', args: '', url: '', pairs: '', title: '' };

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** A word of a command line: quotes keep spaces, also in the middle of a word. */
const WORD = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g;

/** Splits a command line as a person pastes it into a command and its arguments; quotes keep words together. */
export function splitCommand(line: string): { readonly command: string; readonly args: string[] } {
  const [command = '', ...args] = (line.match(WORD) ?? []).map((word) =>
    word.replaceAll(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, double?: string, single?: string) => double?.replaceAll(/\\(.)/g, '$1') ?? single ?? '',
    ),
  );
  return { command, args };
}

/** The quote of a command line that is never closed. */
function openQuote(line: string): string | undefined {
  return /["']/.exec(line.replaceAll(WORD, ''))?.[0];
}

/** What is wrong with the command of a form. */
function commandProblem(line: string): string | undefined {
  if (line.trim() === '') return 'Give the command that starts it, such as npx.';
  const quote = openQuote(line);
  if (quote !== undefined) return `Close the quote ${quote}: it begins an argument and does not end.`;
  return splitCommand(line).command === '' ? 'Give the command that starts it, such as npx.' : undefined;
}

/** The entry of the config that a form describes; what the form does not ask is kept from `base`. */
export function entryOf(form: EntryForm, base: JsonObject = {}): JsonObject {
  const entry: JsonObject = { ...base };
  for (const name of ['command', 'args', 'url', 'env', 'headers', 'title']) delete entry[name];
  const pairs = Object.fromEntries(
    linesOf(form.pairs).map((line) => {
      const [name = '', value = ''] = line.split(/=(.*)/s);
      return [name.trim(), value.trim()];
    }),
  );
  if (form.title.trim() !== '') entry['title'] = form.title.trim();
  if (form.kind === 'command') {
    const { command, args } = splitCommand(form.command);
    entry['command'] = command;
    const all = [...args, ...linesOf(form.args)];
    if (all.length > 0) entry['args'] = all;
    if (Object.keys(pairs).length > 0) entry['env'] = pairs;
  } else {
    entry['url'] = form.url.trim();
    if (Object.keys(pairs).length > 0) entry['headers'] = pairs;
  }
  return entry;
}

function pairsOf(value: Json | undefined): string {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, one]) => `${name}=${String(one as string)}`)
        .join('\n')
    : '';
}

/** The form that shows an entry of the config. */
export function formOf(id: string, entry: JsonObject): EntryForm {
  const text = (name: string): string => (typeof entry[name] === 'string' ? entry[name] : '');
  const isUrl = typeof entry['url'] === 'string';
  const command = text('command');
  return {
    id,
    kind: isUrl ? 'url' : 'command',
    command: /\s/.test(command) ? JSON.stringify(command) : command,
    args: Array.isArray(entry['args']) ? entry['args'].join('\n') : '',
    url: text('url'),
    pairs: pairsOf(isUrl ? entry['headers'] : entry['env']),
    title: text('title'),
  };
}

function existsAlready(name: string): string {
  return `${name} exists already: choose another name, or edit that server.`;
}

/** Names that the config accepts. */
const NAME = /^[\w.-]{1,64}$/;

/** What is wrong with the name of a new server. */
export function nameProblem(name: string, taken: readonly string[]): string | undefined {
  if (name === '') return 'Give it a short name, such as github.';
  if (!NAME.test(name)) {
    const near = name.replaceAll(/[^\w.-]+/g, '-').slice(0, 64);
    return `A name has 1 to 64 letters, digits, "_", "." or "-". Write ${near}, for example.`;
  }
  return taken.includes(name) ? existsAlready(name) : undefined;
}

/** What stops a form from being looked at; `taken` are the names that a new server cannot have. */
export function problemsOf(
  form: EntryForm,
  taken: readonly string[] = [],
): Readonly<Partial<Record<keyof EntryForm, string>>> {
  const id = nameProblem(form.id.trim(), taken);
  const command = form.kind === 'command' ? commandProblem(form.command) : undefined;
  return {
    ...(id !== undefined && { id }),
    ...(command !== undefined && { command }),
    ...(form.kind === 'url' &&
      !/^https?:\/\/\S+$/.test(form.url.trim()) && { url: 'Give an address that begins with https:// or http://.' }),
    ...(linesOf(form.pairs).some((line) => !/^[^=\s]+=/.test(line)) && {
      pairs: 'Write each as NAME=value, one a line.',
    }),
  };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isEntry = (value: unknown): value is JsonObject =>
  isObject(value) && (typeof value['command'] === 'string' || typeof value['url'] === 'string');

/**
 * The servers in a text that was pasted: as clients write them (`mcpServers`), as the config does (`servers`), by their names alone, or one
 * entry without a name where `name` has it. Else what is wrong with it.
 */
export function readEntries(
  text: string,
  name: string,
  taken: readonly string[] = [],
): Record<string, JsonObject> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return `This is not valid JSON: ${(thrown as Error).message}`;
  }
  if (!isObject(value)) return 'Write an object: {"github": {"command": "…"}}.';
  if (isEntry(value) && name === '') return 'Give it a name: {"github": {"command": "…"}}.';
  if (isEntry(value)) return taken.includes(name) ? existsAlready(name) : { [name]: value };
  const entries = value['mcpServers'] ?? value['servers'] ?? value;
  const named = isObject(entries) ? Object.entries(entries) : [];
  const wrong = named.find(([, entry]) => !isEntry(entry));
  if (named.length === 0) return 'There is no server in it.';
  if (wrong) return `"${wrong[0]}" has neither a command nor a url.`;
  const again = named.find(([id]) => taken.includes(id));
  if (again) return existsAlready(again[0]);
  return Object.fromEntries(named) as Record<string, JsonObject>;
}
