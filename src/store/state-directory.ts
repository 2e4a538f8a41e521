import { posix, win32 } from 'node:path';

/** What decides where state is kept. */
export interface StateDirectoryOptions {
  readonly platform: NodeJS.Platform;
  /** The home directory of the user. */
  readonly home: string;
  readonly env: {
    readonly XDG_DATA_HOME?: string;
    readonly LOCALAPPDATA?: string;
    readonly CCOS_MCP_CACHE_DIR?: string;
  };
  /** `--state-dir`; above everything else. */
  readonly override?: string;
}

/** Where toolscout keeps its state (STORE-2). An empty variable counts as unset. */
export function stateDirectory({ platform, home, env, override }: StateDirectoryOptions): string {
  const path = platform === 'win32' ? win32 : posix;
  const named = override || env.CCOS_MCP_CACHE_DIR;
  if (named) return named;
  // The XDG specification says that a relative path is to be ignored.
  if (env.XDG_DATA_HOME && path.isAbsolute(env.XDG_DATA_HOME)) return path.join(env.XDG_DATA_HOME, 'toolscout');
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'toolscout');
  if (platform === 'win32') return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'toolscout');
  return path.join(home, '.local', 'share', 'toolscout');
}
