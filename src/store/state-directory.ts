import { posix, win32 } from 'node:path';

/** What decides where state is kept; of variables only those that are set and make sense. */
export interface StateDirectoryOptions {
  readonly platform: NodeJS.Platform;
  /** The home directory of the user. */
  readonly home: string;
  /** `CCOS_MCP_CACHE_DIR` */
  readonly cacheDirectory?: string;
  /** `XDG_DATA_HOME` */
  readonly dataHome?: string;
  /** `LOCALAPPDATA` */
  readonly localAppData?: string;
  /** `--state-dir`; above everything else. */
  readonly override?: string;
}

/** Where toolscout keeps its state (STORE-2). */
export function stateDirectory(options: StateDirectoryOptions): string {
  const { platform, home, cacheDirectory, dataHome, localAppData, override } = options;
  const path = platform === 'win32' ? win32 : posix;
  const named = override || cacheDirectory;
  if (named) return named;
  if (dataHome !== undefined) return path.join(dataHome, 'toolscout');
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'toolscout');
  if (platform === 'win32') return path.join(localAppData ?? path.join(home, 'AppData', 'Local'), 'toolscout');
  return path.join(home, '.local', 'share', 'toolscout');
}
