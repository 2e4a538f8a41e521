import { compileGlob } from '../kernel/patterns/pattern.js';
import type { Tool } from '../model/tool.js';

const MAX_LENGTH = 200;
const FORM = /^[\p{L}\p{N}*][\p{L}\p{N}*_./-]*(?::[\p{L}\p{N}*][\p{L}\p{N}*_./-]*)*$/u;

/** Whether a text has the form of a capability: `incident:read`, `github.issues:*`, `tools.call`. */
export function isCapability(text: string): boolean {
  return text.length <= MAX_LENGTH && FORM.test(text);
}

/** Whether a capability stands for several. */
export function isWildcard(capability: string): boolean {
  return capability.includes('*');
}

/** Capabilities are compared without regard to case. */
export function matcherOf(capability: string): (other: string) => boolean {
  const lower = capability.toLowerCase();
  if (!isWildcard(lower)) return (other) => other.toLowerCase() === lower;
  const glob = compileGlob(lower);
  return (other) => glob.matches(other.toLowerCase());
}

/** Acts by their categories (SCH-6); any other act is a name, searched for in the tool's name. */
const ACTS: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      ['read get list fetch view', ['crud.read']],
      ['query search find lookup', ['crud.read', 'search']],
      ['write', ['crud.create', 'crud.update', 'crud.delete', 'upload']],
      ['create add new', ['crud.create']],
      ['update edit modify', ['crud.update']],
      ['delete remove', ['crud.delete']],
      ['notify send alert', ['notify']],
      ['transform convert', ['transform']],
      ['validate verify check', ['validate']],
      ['upload', ['upload']],
    ] as const
  ).flatMap(([verbs, categories]) => verbs.split(' ').map((verb) => [verb, categories] as const)),
);

/** Acts that say nothing about which tool. */
const ANY_ACT: ReadonlySet<string> = new Set(['*', 'call', 'use', 'execute']);

function wordsOf(text: string): string[] {
  const parts = text
    .slice(0, MAX_LENGTH)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase();
  const words = parts.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  // Incidents and an incident are one subject.
  return words.map((word) =>
    word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word,
  );
}

function holdsWords(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length > 0 && wanted.every((word) => words.includes(word));
}

function servesAct(tool: Tool, act: string): boolean {
  if (ANY_ACT.has(act)) return true;
  const name = tool.name.toLowerCase();
  if (name === act) return true;
  const categories = ACTS.get(act);
  if (categories) return tool.categories.some((category) => categories.includes(category));
  if (isWildcard(act)) return compileGlob(act).matches(name);
  return holdsWords(wordsOf(tool.name), wordsOf(act));
}

function servesSubject(tool: Tool, subject: string): boolean {
  if (subject === '*' || tool.tags.some((tag) => tag.toLowerCase() === subject)) return true;
  if (tool.domains.some((domain) => domain === subject || domain.startsWith(`${subject}.`))) return true;
  return holdsWords([...wordsOf(tool.name), ...tool.domains.slice(1).flatMap(wordsOf)], wordsOf(subject));
}

/** A capability in its two halves; one without an act leaves the act open. */
function halvesOf(capability: string): { subject: string; act: string } {
  const lower = capability.toLowerCase();
  const colon = lower.indexOf(':');
  return colon === -1 ? { subject: lower, act: '*' } : { subject: lower.slice(0, colon), act: lower.slice(colon + 1) };
}

/**
 * The tools of a server that serve a capability it is known to offer. Tools tagged with the capability serve it, and
 * then only they do; else those whose name or domain is about its subject and whose kind or name is its act; else,
 * when none is about the subject, those of its act: the server itself says that this is its subject.
 */
export function toolsServing(capability: string, tools: readonly Tool[]): string[] {
  const { subject, act } = halvesOf(capability);
  const tagged = tools.filter((tool) => tool.tags.some((tag) => tag.toLowerCase() === capability.toLowerCase()));
  const named = tools.filter((tool) => servesAct(tool, act));
  const both = named.filter((tool) => servesSubject(tool, subject));
  const chosen = [tagged, both, named].find((list) => list.length > 0) ?? [];
  return chosen.map(({ name }) => name);
}

/** What a server offers because of one of its tools: `domain:verb` for every domain and kind, and `domain:name`. */
export function capabilitiesOfTool(tool: Tool): string[] {
  const verbs = tool.categories.map((category) => category.replace(/^crud\./, ''));
  const acts = new Set([...verbs, tool.name]);
  if (verbs.some((verb) => verb === 'create' || verb === 'update' || verb === 'delete')) acts.add('write');
  return tool.domains.flatMap((domain) => [...acts].map((act) => `${domain}:${act}`)).filter(isCapability);
}
