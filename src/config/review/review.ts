import { hashJson } from '../../kernel/hash.js';
import { otherHostName } from '../../net/host-names.js';
import type { JsonValue } from '../../kernel/json.js';
import { isCredentialVariable, isLoaderVariable } from '../../kernel/loader-variables.js';
import { MASK } from '../../kernel/secrets.js';
import { printable } from '../../kernel/text.js';
import type { ServerEntry } from '../../model/config.js';
import type { ServerReview, Transport } from '../../model/server.js';
import { hideInArguments, hideInUrl, isSecretName, looksIssued } from '../secrets/credentials.js';
import { literalPart, variablesIn } from '../resolve/expand.js';

/** An argument of a command as a person reads it: quoted where it holds blanks or quotes, without control characters. */
export function quoteArgument(arg: string): string {
  return printable(arg === '' || /[\s"']/.test(arg) ? JSON.stringify(arg) : arg);
}

/** The value of a variable as written. What decides which code runs is never hidden, whatever its name looks like. */
function showVariable(name: string, value: string): string {
  const isLoader = isLoaderVariable(name) && !isCredentialVariable(name);
  const isHidden = !isLoader && (isSecretName(name) || isCredentialVariable(name) || looksIssued(value));
  return isHidden ? MASK : quoteArgument(value.replace(/(:\/\/)[^/?#@\s]+@/g, `$1${MASK}@`));
}

/** Text that can be a credential: one word, perhaps after its scheme, and neither code nor a path. */
function canBeCredential(text: string): boolean {
  return /^(?:(?:bearer|basic|token)\s+)?[\w.~+/=:@%-]*$/i.test(text) && !/^(?:\.{0,2}|~)\//.test(text);
}

/** The arguments with their defaults. Code and paths are shown also where a credential would be hidden (A42). */
function showArguments(args: readonly string[]): string[] {
  return hideInArguments(args).map(({ shown }, at) => {
    const arg = args[at]!;
    if (shown === arg) return arg;
    const [, name = '', value = ''] = /^(-{0,2}[A-Za-z_][\w.-]*[=:])?([^]*)$/.exec(arg) ?? [];
    if (!canBeCredential(literalPart(value)) && !/^[a-z][a-z0-9+.-]*:\/\//i.test(arg)) return arg;
    const isLoader = name.endsWith('=') && isLoaderVariable(name.slice(0, -1));
    return isLoader && !isCredentialVariable(name.slice(0, -1)) ? arg : shown;
  });
}

function showTarget(entry: ServerEntry): string {
  if (entry.command !== undefined) {
    return [entry.command, ...showArguments(entry.args ?? [])].map(quoteArgument).join(' ');
  }
  const url = entry.url ?? '';
  const other = otherHostName(url);
  const { shown } = hideInUrl(url);
  return printable(other === undefined ? shown : `${shown} (host ${other})`);
}

/** Every variable that an entry uses, with the places where it does: `AWS_KEY in header X-Client`. */
function usesOf({ command, args = [], cwd, url, env = {}, headers = {}, auth = {} }: ServerEntry): string[] {
  const texts: Array<[place: string, text: string]> = [
    ['the command', command ?? ''],
    ...args.map((arg, at): [string, string] => [`argument ${at + 1}`, arg]),
    ['the folder', cwd ?? ''],
    ['the URL', url ?? ''],
    ...Object.entries(env).map(([name, value]): [string, string] => [`variable ${name}`, value]),
    ...Object.entries(headers).map(([name, value]): [string, string] => [`header ${name}`, value]),
    ...Object.entries(auth).map(([name, value]): [string, string] => [`auth ${name}`, JSON.stringify(value) ?? '']),
  ];
  const places = new Map<string, Set<string>>();
  for (const [place, text] of texts) {
    for (const name of variablesIn(text)) places.set(name, (places.get(name) ?? new Set()).add(place));
  }
  return [...places].map(([name, found]) => printable(`${name} in ${[...found].join(' and ')}`));
}

/**
 * SHA-256 of the fields that the launch leaves out and of the texts with variables, all as written: a change of the
 * variables that a server gets is a change of its launch. `undefined` when an entry has no such fields.
 */
function writtenOf({ env = {}, headers = {}, auth, url = '' }: ServerEntry): string | undefined {
  const variables = Object.entries(env).filter(([name, value]) => isCredentialVariable(name) || value.includes('${'));
  const written = {
    ...(variables.length > 0 && { env: Object.fromEntries(variables) }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(auth && { auth: JSON.parse(JSON.stringify(auth)) as JsonValue }),
    ...(/@|\$\{/.test(url) && { url }),
  };
  return Object.keys(written).length === 0 ? undefined : hashJson(written);
}

/** What the approver of a server from another author is shown in addition: everything but credentials (A42). */
export function reviewOf(entry: ServerEntry, transport: Transport): ServerReview {
  const env = Object.entries(entry.env ?? {}).map(([name, value]) => [name, showVariable(name, value)] as const);
  const cwd = transport.type === 'stdio' ? transport.cwd : undefined;
  const written = writtenOf(entry);
  return {
    target: showTarget(entry),
    env: transport.type === 'stdio' ? env : [],
    uses: usesOf(entry),
    ...(cwd !== undefined && { cwd: quoteArgument(cwd) }),
    ...(written !== undefined && { written }),
  };
}
