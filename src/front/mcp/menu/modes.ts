import { compilePattern } from '../../../kernel/patterns/pattern.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { ModeName } from '../../../model/config.js';
import { hostNameIn, knownHost } from './known-hosts.js';

/** A mode, or `auto` to choose it by the host. */
export type ModeChoice = ModeName;

/** What a host is offered: the meta-tools, every tool, or both (META-5). */
export type Mode = Exclude<ModeChoice, 'auto'>;

/** Chooses the mode for a host that introduces itself. */
export type ChooseMode = (introduction: JsonObject) => Mode;

/** The choice that a configuration means; `hostModes` come before the table of known hosts. */
export function createModeChoice(choice: ModeChoice, hostModes: Readonly<Record<string, ModeChoice>> = {}): ChooseMode {
  const wished = Object.entries(hostModes).map(([pattern, mode]) => ({
    pattern: compilePattern(pattern.toLowerCase()),
    mode,
  }));
  return (introduction) => {
    const name = hostNameIn(introduction);
    const mode = wished.find(({ pattern }) => pattern.matches(name))?.mode ?? choice;
    return mode === 'auto' ? (knownHost(name)?.defers ? 'passthrough' : 'meta') : mode;
  };
}
