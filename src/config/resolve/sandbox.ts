import type { SandboxConfig } from '../../model/sandbox-config.js';

/** What a sandbox is given of a server. */
export interface SandboxedServer {
  /** The folder the server runs in. */
  readonly cwd: string;
  /** The names of the variables it is given. */
  readonly variables: readonly string[];
}

/** The words that stand before the command of a server in a sandbox; none without one. */
export function sandboxWords(sandbox: SandboxConfig, { cwd, variables }: SandboxedServer): string[] {
  if (sandbox === false) return [];
  return sandbox.command.flatMap((word) =>
    word === '{env}' ? variables.flatMap((name) => ['-e', name]) : [word.replaceAll('{cwd}', cwd)],
  );
}
