import type { JsonObject } from '../../kernel/json.js';
import type { Installation, Launch } from '../importer.js';

/** `{ command, args }` or `{ url }`: what most clients understand. */
export function plainEntry(launch: Launch): JsonObject {
  return launch.type === 'stdio' ? { command: launch.command, args: [...launch.args] } : { url: launch.url };
}

/** The same with a `type`, for clients that require it. */
export function typedEntry(stdio: string, http: string): (launch: Launch) => JsonObject {
  return (launch) => ({ type: launch.type === 'stdio' ? stdio : http, ...plainEntry(launch) });
}

/** For clients that only start processes. */
export function stdioOnly(launch: Launch): JsonObject | undefined {
  return launch.type === 'stdio' ? plainEntry(launch) : undefined;
}

/** An installation below `mcpServers`, which most clients share. */
export function inMcpServers(file: Installation['file'], entry: Installation['entry'] = plainEntry): Installation {
  return { file, key: ['mcpServers'], entry };
}
