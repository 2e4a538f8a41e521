import type { Problem } from '../kernel/errors.js';
import { alternativesOf, coversTokens, literalOf, type GlobToken } from '../kernel/patterns/glob-cover.js';
import type { Pattern, PatternList } from '../kernel/patterns/pattern.js';
import type { RuleConfig } from '../model/config.js';

/** A rule that was compiled. */
export interface CompiledRule {
  readonly index: number;
  readonly config: RuleConfig;
  readonly patterns: PatternList;
  appliesTo(server: string): boolean;
}

type GlobTokens = readonly GlobToken[];

/** One part of what a pattern matches: a glob without alternatives, or all of a pattern that cannot be taken apart. */
interface Part {
  readonly hasColon: boolean;
  readonly pattern?: Pattern;
  readonly tokens?: GlobTokens;
  /** It matches this text and no other. */
  readonly literal?: string;
  /** It matches every tool. */
  readonly isUniversal: boolean;
}

/** A rule with its patterns taken apart. */
interface Anatomy {
  readonly rule: CompiledRule;
  readonly positive: readonly Part[];
  readonly negative: readonly Part[];
  /** What it can match at most. */
  readonly reach: readonly Part[];
  /** Which servers it holds for; `undefined` where that is not a glob. */
  readonly servers: readonly GlobTokens[] | undefined;
}

const EVERY_TEXT = alternativesOf('*')!;
/** An id is never empty. */
const EVERY_SERVER = alternativesOf('?*')!;
const EVERY_ADDRESS = alternativesOf('?*:*')!;
const EVERYTHING: Part = { hasColon: false, tokens: EVERY_TEXT[0], isUniversal: true };

/** The globs that a pattern consists of; `undefined` for a regex. */
function globsOf(text: string): readonly GlobTokens[] | undefined {
  return text.startsWith('/') ? undefined : alternativesOf(text);
}

function partsOf(pattern: Pattern): Part[] {
  const { hasColon, negated, source } = pattern;
  const globs = globsOf(negated ? source.slice(1) : source);
  if (!globs) return [{ hasColon, pattern, isUniversal: false }];
  return globs.map((tokens) => ({
    hasColon,
    pattern,
    tokens,
    literal: literalOf(tokens),
    isUniversal: coversAll([tokens], hasColon ? EVERY_ADDRESS : EVERY_TEXT),
  }));
}

function dissect(rule: CompiledRule): Anatomy {
  const { patterns } = rule.patterns;
  const positive = patterns.filter(({ negated }) => !negated).flatMap(partsOf);
  const negative = patterns.filter(({ negated }) => negated).flatMap(partsOf);
  const { server } = rule.config;
  const isGlob = server !== undefined && !server.startsWith('!');
  const servers = server === undefined ? EVERY_SERVER : isGlob ? globsOf(server) : undefined;
  return { rule, positive, negative, servers, reach: positive.length === 0 ? [EVERYTHING] : positive };
}

function coversAll(wide: readonly GlobTokens[], narrow: readonly GlobTokens[]): boolean {
  return narrow.every((each) => wide.some((other) => coversTokens(other, each)));
}

/** Whether everything that one part matches is matched by the other; errs towards no. */
function coversPart(wide: Part, narrow: Part): boolean {
  if (wide.isUniversal) return true;
  if (wide.hasColon !== narrow.hasColon) return false;
  if (wide.tokens && narrow.tokens) return coversTokens(wide.tokens, narrow.tokens);
  if (narrow.literal !== undefined && wide.pattern) return wide.pattern.matches(narrow.literal);
  const sourceOf = ({ pattern }: Part): string | undefined => pattern?.source.replace(/^!/, '');
  return !wide.tokens && !narrow.tokens && sourceOf(wide) === sourceOf(narrow);
}

function coversServers(earlier: Anatomy, later: Anatomy): boolean {
  const { server } = later.rule.config;
  if (earlier.rule.config.server === server) return true;
  if (earlier.servers && coversAll(earlier.servers, EVERY_SERVER)) return true;
  if (earlier.servers) return later.servers !== undefined && coversAll(earlier.servers, later.servers);
  const names = later.servers?.map(literalOf);
  return names !== undefined && names.every((name) => name !== undefined && earlier.rule.appliesTo(name));
}

/** Whether nothing that `part` matches can be what the earlier rule excludes, or the later one excludes it too. */
function isHarmless(excluded: Part, part: Part, later: Anatomy): boolean {
  if (later.negative.some((own) => coversPart(own, excluded) || coversPart(own, part))) return true;
  if (excluded.hasColon !== part.hasColon) return false;
  if (part.literal !== undefined) return excluded.pattern?.matches(part.literal) === false;
  // One alternative may be harmless where the whole pattern is not, so the part itself is asked.
  return excluded.literal !== undefined && part.tokens !== undefined && !fits(part.tokens, excluded.literal);
}

function fits(tokens: GlobTokens, text: string): boolean {
  return coversTokens(
    tokens,
    [...text].map((char): GlobToken => ({ is: 'char', char })),
  );
}

/** Whether every tool that `part` of the later rule lets it decide about is one that the earlier rule matches. */
function decidesFirst(earlier: Anatomy, later: Anatomy, part: Part): boolean {
  return (
    earlier.reach.some((wide) => coversPart(wide, part)) &&
    coversServers(earlier, later) &&
    earlier.negative.every((excluded) => isHarmless(excluded, part, later))
  );
}

/** Parts of rules that are compared with each other, each with each; what comes after so many is left unsaid. */
const MAX_COMPARISONS = 100_000;

/** The rules that can never decide, because earlier ones always do; none is named that can (PAT-4, SEC-11). */
export function findDeadRules(rules: readonly CompiledRule[]): Problem[] {
  return [...deadIn(rules, 'enabled'), ...deadIn(rules, 'confirm')];
}

/** What still holds of a rule whose `field` decides nothing. */
function kept({ config }: CompiledRule, field: 'enabled' | 'confirm'): string {
  const other = field === 'enabled' ? 'confirm' : 'enabled';
  const fields = [...(config[other] === undefined ? [] : [other]), ...(config.tags?.length ? ['tags'] : [])];
  if (fields.length === 0) return '';
  return `; its ${fields.join(' and ')} still ${fields[0] === 'tags' || fields.length > 1 ? 'apply' : 'applies'}`;
}

function deadIn(rules: readonly CompiledRule[], field: 'enabled' | 'confirm'): Problem[] {
  const deciding = rules.filter((rule) => rule.config[field] !== undefined).map(dissect);
  const problems: Problem[] = [];
  let parts = 0;
  let compared = 0;
  for (const [position, later] of deciding.entries()) {
    const before = deciding.slice(0, position);
    compared += parts * later.reach.length;
    parts += later.reach.length;
    if (compared > MAX_COMPARISONS) break;
    const first = later.reach.map((part) => before.find((earlier) => decidesFirst(earlier, later, part)));
    const found = first.filter((earlier) => earlier !== undefined);
    if (found.length < first.length) continue;
    const names = [...new Set(found.map(({ rule }) => rule.index))].toSorted((a, b) => a - b);
    const who = names.map((index) => `toolRules[${index}]`).join(' and ');
    problems.push({
      path: `toolRules[${later.rule.index}]`,
      message: `${field === 'confirm' ? 'its confirm ' : ''}can never decide, because ${who} always ${names.length === 1 ? 'decides' : 'decide'} first${kept(later.rule, field)}; move it up or remove it`,
    });
  }
  return problems;
}
