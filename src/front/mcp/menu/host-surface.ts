import type { JsonObject } from '../../../kernel/json.js';
import type { Host } from '../../../model/host.js';
import type { Exchange } from '../exchange.js';

/** What one host is offered: how toolscout introduces itself to it, and what it answers. */
export interface HostSurface {
  /** Name, version and whatever else belongs to an introduction. */
  readonly info: JsonObject & { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** Answers a request with the result itself; throws what `toRpcError` makes an error of. */
  answer(method: string, params: JsonObject, exchange: Exchange): Promise<JsonObject>;
  /** The definition of a tool that is offered directly, by its exposed name. */
  definition?(name: string): Promise<JsonObject | undefined>;
  /** Reports changes of a resource to `onUpdate`, under its exposed URI. */
  watch?(uri: string, host: Host, onUpdate: (params: JsonObject) => void): Promise<() => void>;
  /** Whether a change of a list of this server, or of the whole catalog, is a change of what the host sees; asked once for each change. */
  concerns(server: string | undefined, kind: 'tools' | 'resources' | 'prompts'): boolean;
  /** Whether skills are part of it: their resources, and briefings about them as log messages (NEG-4). */
  readonly skills?: boolean;
  /** Whether this request brings a state that is good in every process that shares the store (CODE-5). */
  takesKeptState?(method: string, params: JsonObject): boolean;
  /** The host has gone. */
  close?(): void;
}
