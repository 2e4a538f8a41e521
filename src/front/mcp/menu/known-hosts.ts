import { compilePattern } from '../../../kernel/patterns/pattern.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';

/** What is known of a host by the name it gives (`clientInfo.name`). */
interface KnownHost {
  /** Names it gives; lower case, globs. */
  readonly names: readonly string[];
  /**
   * It keeps the definitions of tools out of the context until they are needed, whatever the model. A search of ours in
   * front of its own would only be in the way.
   */
  readonly defers: boolean;
  /** It drops tools whose `inputSchema` has `oneOf`, `anyOf` or `allOf` at its root, or a model API it uses refuses them. */
  readonly wantsFlatSchemas: boolean;
  /** It puts the instructions of a server before its model; of other hosts this is not known, or known not to be so. */
  readonly showsInstructions?: boolean;
}

/**
 * The hosts that are treated in a particular way; docs/modes.md has the same table. Codex and Copilot defer with some
 * models only and Kiro when configured so; they do not count as deferring. The APIs of Anthropic and OpenAI refuse a
 * whole request for one schema with a union at its root, so every host that uses one of them needs flat schemas.
 */
const KNOWN_HOSTS: readonly KnownHost[] = [
  { names: ['claude-code*'], defers: true, wantsFlatSchemas: true, showsInstructions: true },
  { names: ['visual studio code*', 'vscode*'], defers: true, wantsFlatSchemas: true, showsInstructions: true },
  { names: ['cursor*'], defers: true, wantsFlatSchemas: true },
  { names: ['qwen*'], defers: true, wantsFlatSchemas: true, showsInstructions: true },
  { names: ['factory*'], defers: true, wantsFlatSchemas: true },
  { names: ['claude*', 'anthropic*'], defers: false, wantsFlatSchemas: true },
  { names: ['codex*'], defers: false, wantsFlatSchemas: true, showsInstructions: true },
  { names: ['openai*', 'chatgpt*'], defers: false, wantsFlatSchemas: true },
  { names: ['copilot*', 'github-copilot*', 'github copilot*'], defers: false, wantsFlatSchemas: true },
  { names: ['gemini*'], defers: false, wantsFlatSchemas: true, showsInstructions: true },
  { names: ['opencode*'], defers: false, wantsFlatSchemas: true, showsInstructions: true },
  { names: ['ai-sdk*'], defers: false, wantsFlatSchemas: true },
  { names: ['kiro*', 'q-dev-cli*'], defers: false, wantsFlatSchemas: true },
  { names: ['goose*'], defers: false, wantsFlatSchemas: true, showsInstructions: true },
  { names: ['windsurf*', 'cline*', '@cline*', 'roo*', 'zed*', 'continue*'], defers: false, wantsFlatSchemas: true },
];

const BY_NAME = KNOWN_HOSTS.flatMap((host) => host.names.map((name) => ({ pattern: compilePattern(name), host })));

/** The name a host gives in its introduction, in lower case; empty when it gives none. */
export function hostNameIn({ clientInfo }: JsonObject): string {
  return isObject(clientInfo) && typeof clientInfo['name'] === 'string' ? clientInfo['name'].toLowerCase() : '';
}

/** What is known of a host of that name, in lower case. */
export function knownHost(name: string): KnownHost | undefined {
  return BY_NAME.find(({ pattern }) => pattern.matches(name))?.host;
}
