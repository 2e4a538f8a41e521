import { compilePattern } from '../../kernel/pattern.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { ModeName } from '../../model/config.js';

/** A mode, or the wish to have it chosen by who asks. */
export type ModeChoice = ModeName;

/** What a host is offered: the meta-tools, every tool, or both (META-5). */
export type Mode = Exclude<ModeChoice, 'auto'>;

/**
 * Hosts that keep the definitions of tools out of the context until they are needed, by the name they
 * give in the handshake. For them a search of ours in front of their own would only be in the way.
 */
export const DEFERRING_HOSTS: readonly string[] = [
  'claude-code*',
  'visual studio code*',
  'vscode*',
  'copilot*',
  'github-copilot*',
  'codex*',
  'cursor*',
  'kiro*',
];

/** Chooses the mode for a host that introduces itself. */
export type ChooseMode = (introduction: JsonObject) => Mode;

/** The choice that a configuration means; `hostModes` come before the built-in table. */
export function createModeChoice(choice: ModeChoice, hostModes: Readonly<Record<string, ModeChoice>> = {}): ChooseMode {
  const table = [
    ...Object.entries(hostModes).map(([pattern, mode]) => ({ pattern: compilePattern(pattern.toLowerCase()), mode })),
    ...(choice === 'auto'
      ? DEFERRING_HOSTS.map((pattern) => ({ pattern: compilePattern(pattern), mode: 'passthrough' as const }))
      : []),
  ];
  return (introduction) => {
    const { clientInfo } = introduction;
    const name = isObject(clientInfo) && typeof clientInfo['name'] === 'string' ? clientInfo['name'].toLowerCase() : '';
    const found = table.find(({ pattern }) => pattern.matches(name))?.mode ?? choice;
    return found === 'auto' ? 'meta' : found;
  };
}
