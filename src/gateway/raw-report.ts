import type { RawExchange } from '../connect/index.js';
import { extractTools, RUNG_WORTH, type Rung } from '../discover/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { isObject } from '../kernel/json.js';
import type { Provenance } from '../model/tool.js';
import type { Core } from './core.js';

/** Everything that was said between toolscout and a server, for people who debug one (DISC-7). */
export interface RawReport extends RawExchange {
  readonly server: string;
  /** What the compatibility ladder reads out of it; nothing when the server lists its tools properly. */
  readonly read?: { readonly rung: Rung; readonly provenance: Provenance; readonly tools: readonly string[] };
}

const HELLO = 0;
const LIST = 1;

/** Talks to a local server as a host of the 2025 era would, step by step, and keeps every line. */
export async function talkRaw(core: Core, id: string): Promise<RawReport> {
  const server = core.usable(id);
  const { rawRun } = core.deps;
  if (!rawRun) throw new ToolscoutError('INVALID_REQUEST', 'This gateway starts no programs.');
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'toolscout', version: '1' },
  };
  let listed = false;
  const exchange = await rawRun(server, {
    opening: [JSON.stringify({ jsonrpc: '2.0', id: HELLO, method: 'initialize', params: hello })],
    timeoutMs: core.loaded.config.timeout,
    reply(line) {
      const answered = idOf(line);
      if (answered === LIST) {
        listed = true;
        return 'done';
      }
      if (answered !== HELLO) return [];
      return [
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
        JSON.stringify({ jsonrpc: '2.0', id: LIST, method: 'tools/list', params: {} }),
      ];
    },
  });
  const found = listed ? undefined : (extractTools(exchange.stdout) ?? extractTools(exchange.stderr));
  const read = found && {
    rung: found.rung,
    provenance: RUNG_WORTH[found.rung].provenance,
    tools: found.items.map(({ name }) => String(name)),
  };
  return {
    ...exchange,
    server: id,
    lines: exchange.lines.map((line) => ({ ...line, text: core.hide(line.text) })),
    stdout: core.hide(exchange.stdout),
    stderr: core.hide(exchange.stderr),
    ...(read && { read }),
  };
}

function idOf(line: string): unknown {
  try {
    const message: unknown = JSON.parse(line);
    return isObject(message) && message['jsonrpc'] === '2.0' ? message['id'] : undefined;
  } catch {
    // Noise between messages is part of what a person wants to see, and answers nothing.
    return undefined;
  }
}
