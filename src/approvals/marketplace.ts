import { ToolscoutError } from '../kernel/errors.js';
import { hashJson, sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Store } from '../model/store.js';
import type { Tool } from '../model/tool.js';

/** The exportable description of one tool. Whatever else stands in it, it has an id, a server and a tool. */
export interface RegisteredManifest extends JsonObject {
  id: string;
  server: string;
  tool: string;
}

/** The set of approved manifests (SEC-9). */
export interface Marketplace {
  /** Adds or replaces one manifest; durable when it resolves. */
  registerCapability(manifest: RegisteredManifest): Promise<void>;
  /** Registers the manifests of tools; answers how many are in the marketplace because of it. */
  registerTools(tools: readonly Tool[]): Promise<number>;
  /** Takes out the manifests of a server, or of some of its tools; answers how many. */
  withdraw(server: string, tools?: ReadonlySet<string>): Promise<number>;
  /** Every manifest, sorted by id. */
  list(): Promise<RegisteredManifest[]>;
}

const SPACE = 'marketplace';

function asManifest(value: JsonValue): RegisteredManifest | undefined {
  if (!isObject(value)) return undefined;
  const { id, server, tool } = value;
  const named = [id, server, tool].every((name) => typeof name === 'string' && name !== '');
  return named ? (value as RegisteredManifest) : undefined;
}

/** The manifest of a tool: what a consumer needs to know of it, by its exact definition. */
export function manifestOf(tool: Tool): RegisteredManifest {
  const { inputSchema, outputSchema, annotations } = tool.definition;
  return {
    id: `mcp.${tool.server}.${tool.name}`,
    server: tool.server,
    tool: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description: tool.description,
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
    domains: [...tool.domains],
    categories: [...tool.categories],
    hash: tool.hash,
  };
}

/** A marketplace over a store; `describe` makes the manifest of a tool. */
export function createMarketplace(deps: {
  readonly store: Store;
  readonly describe?: (tool: Tool) => RegisteredManifest;
}): Marketplace {
  const { store, describe = manifestOf } = deps;
  /** By server and tool, not by the id: `a.b` of `c` and `b.c` of `a` may have the same one (A22). */
  const keyOf = ({ server, tool }: RegisteredManifest): string => sha256(`${server}\0${tool}`);

  const stored = async (): Promise<Array<{ key: string; manifest: RegisteredManifest }>> => {
    const entries = await store.list(SPACE);
    return entries.flatMap(({ key, value }) => {
      const manifest = asManifest(value);
      return manifest ? [{ key, manifest }] : [];
    });
  };

  return {
    async registerCapability(manifest) {
      const checked = asManifest(manifest);
      if (!checked) {
        throw new ToolscoutError('INVALID_REQUEST', 'A manifest needs an id, a server and a tool, all of them texts.');
      }
      await store.put(SPACE, keyOf(checked), checked);
    },
    async registerTools(tools) {
      if (tools.length === 0) return 0;
      const known = new Map((await stored()).map(({ key, manifest }) => [key, hashJson(manifest)]));
      for (const manifest of tools.map((tool) => describe(tool))) {
        const key = keyOf(manifest);
        if (known.get(key) !== hashJson(manifest)) await store.put(SPACE, key, manifest);
      }
      return tools.length;
    },
    async withdraw(server, tools) {
      let gone = 0;
      for (const { key, manifest } of await stored()) {
        if (manifest.server !== server || (tools !== undefined && !tools.has(manifest.tool))) continue;
        if (await store.delete(SPACE, key)) gone += 1;
      }
      return gone;
    },
    async list() {
      const manifests = (await stored()).map(({ manifest }) => manifest);
      return manifests.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    },
  };
}
