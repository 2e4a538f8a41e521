import { otherHostName } from '../net/host-names.js';
import { isLoaderVariable } from '../kernel/loader-variables.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { RiskEvidence, Risk, RiskLevel, ServerOrigin } from '../model/approval.js';
import type { Server, StdioTransport, Transport } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import { findFindings } from './findings/findings.js';

const ORDER: readonly RiskLevel[] = ['low', 'medium', 'high', 'critical'];

interface Weighed {
  readonly level: RiskLevel;
  readonly reason: string;
  /** Whether it only informs; a reason of low or medium risk does unless it says otherwise. */
  readonly informs?: boolean;
}

/** The heaviest finding decides; all are named, the heaviest first. */
function weigh(found: readonly Weighed[]): Risk {
  const sorted = found.toSorted((a, b) => ORDER.indexOf(b.level) - ORDER.indexOf(a.level));
  const isMild = ({ level, informs = level === 'low' || level === 'medium' }: Weighed): boolean => informs;
  const warns = new Set(sorted.filter((each) => !isMild(each)).map(({ reason }) => reason));
  const reasons = [...new Set(sorted.map(({ reason }) => reason))];
  return {
    level: sorted[0]?.level ?? 'low',
    reasons,
    informs: reasons.filter((reason) => !warns.has(reason)),
  };
}

/** What holds a trusted item back. */
const CHANGED: Weighed = { level: 'medium', reason: 'changed after it was trusted', informs: false };

/**
 * What no honest text shows is critical, whatever else is known of the tool. A soft finding informs, unless it stands beside hard ones:
 * weak signs add up.
 */
function findInTexts(definition: JsonObject): Weighed[] {
  const found = findFindings(definition);
  const informs = !found.some(({ isHard }) => isHard);
  return found.map(({ reason, isHard }) => ({ level: isHard ? 'critical' : 'high', reason, informs }));
}

/**
 * What a tool admits to by its annotations and its name. A server writes both, so a harmless
 * annotation never outweighs a name that says otherwise (S21).
 */
function findInHints({ definition, categories }: Pick<Tool, 'definition' | 'categories'>): Weighed[] {
  const hints: JsonObject = isObject(definition['annotations']) ? definition['annotations'] : {};
  const readOnly = hints['readOnlyHint'] === true;
  const found: Weighed[] = [];
  const says = (level: RiskLevel, reason: string): void => void found.push({ level, reason });
  if (hints['destructiveHint'] === true && !readOnly) says('high', 'says that it destroys');
  if (hints['openWorldHint'] === true) says('medium', 'says that it reaches the outside world');
  if (Object.keys(hints).every((hint) => !hint.endsWith('Hint'))) says('medium', 'says nothing about its effects');
  if (categories.includes('crud.delete')) says('high', 'is named as something that deletes');
  if (categories.some((category) => ['crud.create', 'crud.update', 'upload'].includes(category))) {
    says('medium', 'is named as something that changes data');
  }
  if (categories.includes('notify')) says('medium', 'is named as something that sends');
  const acts = categories.some((category) => /^(?:crud\.(?:create|update|delete)|notify|upload)$/.test(category));
  if (readOnly && acts) says('high', 'says that it only reads, against its name');
  if (found.length === 0 && readOnly) says('low', 'says that it only reads');
  return found;
}

/** What a tool said of itself when it was trusted and says no more, or the other way round. */
function findInChange(before: JsonValue | undefined, after: JsonObject): Weighed[] {
  const says = (definition: JsonValue | undefined, hint: string): boolean =>
    isObject(definition) && isObject(definition['annotations']) && definition['annotations'][hint] === true;
  const isNoLonger = says(before, 'readOnlyHint') && !says(after, 'readOnlyHint');
  return isNoLonger ? [{ level: 'high', reason: 'no longer says that it only reads' }] : [];
}

/**
 * How much is at stake with a tool; `before` is the definition that was trusted. Deterministic: the same definition always weighs
 * the same.
 */
export function weighTool(
  tool: Pick<Tool, 'definition' | 'categories'>,
  options: { readonly changed: boolean; readonly before?: JsonValue | undefined },
): Risk {
  const change = options.changed ? [...findInChange(options.before, tool.definition), CHANGED] : [];
  const found = [...findInTexts(tool.definition), ...findInHints(tool), ...change];
  return weigh(found.length > 0 ? found : [{ level: 'low', reason: 'shows nothing unusual' }]);
}

/** What of a definition speaks against it, with the words that show it. */
export function evidenceIn(definition: JsonValue): RiskEvidence[] {
  if (!isObject(definition)) return [];
  return findFindings(definition).map(({ reason, path, text }) => ({
    reason,
    ...(path !== undefined && { path }),
    ...(text !== undefined && { text }),
  }));
}

/** The risk of a server's own description. */
export function weighPresentation(presentation: JsonObject, options: { readonly changed: boolean }): Risk {
  const change = options.changed ? [CHANGED] : [];
  return weigh([...change, ...findInTexts(presentation)]);
}

/** Programs that run whatever their arguments say. */
const INTERPRETERS = new Set(
  'sh bash zsh dash ksh fish cmd powershell pwsh node deno bun python python3 perl ruby php osascript npx uvx docker podman'.split(
    ' ',
  ),
);

/** Arguments that hold a program of their own, or that change which program runs. */
const INLINE = new Set([
  '-c',
  '-e',
  '-ec',
  '-lc',
  '-p',
  '--eval',
  '--print',
  '/c',
  '-command',
  '--entrypoint',
  '--call',
]);

/** Arguments that make a package manager take packages from elsewhere. */
const REDIRECTS = new Set([
  '--registry',
  '--index-url',
  '--extra-index-url',
  '--default-index',
  '--index',
  '--find-links',
]);

/** Variables that decide what code runs, set in the environment or by arguments (`env NAME=x`, `docker -e NAME=x`). */
function loaderVariables({ env, args }: StdioTransport): string[] {
  const named = args.map((arg) => /^([A-Za-z_][\w.-]*)=/.exec(arg)?.[1]).filter((name) => name !== undefined);
  return [...new Set([...Object.keys(env), ...named])].filter(isLoaderVariable);
}

function weighTransport(transport: Transport): Weighed[] {
  if (transport.type === 'stdio') {
    const name = (transport.command.split(/[/\\]/).at(-1) ?? '').toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '');
    const inline = transport.args.some((arg) => INLINE.has((arg.split('=')[0] ?? '').toLowerCase()));
    return [
      { level: 'high', reason: 'starts a program with your rights' },
      ...(INTERPRETERS.has(name) && inline
        ? [{ level: 'critical', reason: 'runs code from its arguments' } as const]
        : []),
      ...loaderVariables(transport).map((variable): Weighed => ({
        level: 'critical',
        reason: `sets ${variable}, which decides what code runs`,
      })),
      ...(transport.args.some((arg) => REDIRECTS.has((arg.split('=')[0] ?? '').toLowerCase()))
        ? [{ level: 'critical', reason: 'takes packages from a source that its arguments name' } as const]
        : []),
    ];
  }
  const secure = /^https:/i.test(transport.url);
  return [
    { level: 'medium', reason: 'sends arguments of calls to another machine' },
    ...(secure ? [] : [{ level: 'high', reason: 'sends them unencrypted' } as const]),
    ...(otherHostName(transport.url) === undefined
      ? []
      : [{ level: 'high', reason: 'has an international host name, which may look like another' } as const]),
  ];
}

const FOUND: Readonly<Record<ServerOrigin, string>> = {
  user: 'was configured by you',
  project: 'comes from a file of a project',
  registry: 'comes from a registry',
  introspected: 'was proposed by a caller',
};

/** The risk of a server of unverified origin. */
export function weighServer(server: Pick<Server, 'transport'>, origin: ServerOrigin): Risk {
  return weigh([
    ...weighTransport(server.transport),
    { level: 'low', reason: FOUND[origin], informs: origin === 'user' },
  ]);
}
