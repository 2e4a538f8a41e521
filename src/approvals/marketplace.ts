import { ToolscoutError } from '../kernel/errors.js';
import { hashJson, sha256 } from '../kernel/hash.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { Manifest, type RegisterCapability } from '../model/manifest.js';
import type { Store } from '../model/store.js';

/** The set of approved manifests (SEC-9). */
export interface Marketplace {
  /** Adds or replaces one manifest; durable when it resolves. */
  readonly registerCapability: RegisterCapability;
  /** Adds or replaces many; answers how many are new or changed. */
  registerAll(manifests: readonly Manifest[]): Promise<number>;
  /** Takes out the manifests of a server, or of some of its tools; answers how many. */
  withdraw(server: string, tools?: ReadonlySet<string>): Promise<number>;
  /** Every manifest, sorted by id. */
  list(): Promise<Manifest[]>;
}

const SPACE = 'marketplace';
const PREFIX = 'mcp.';

/** The server a manifest belongs to: its id is `mcp.<server>.<tool>`, and the tool is named apart. */
function serverOf({ id, provider }: Manifest): string {
  return id.slice(PREFIX.length, -(provider.toolName.length + 1));
}

/** By server and tool, not by id: `c` of `a.b` and `b.c` of `a` have the same one (A22). */
function keyOf(manifest: Manifest): string {
  return sha256(`${serverOf(manifest)}\0${manifest.provider.toolName}`);
}

const hashOf = (manifest: Manifest): string => hashJson(manifest as unknown as JsonValue);

/** A marketplace over a store. */
export function createMarketplace({ store }: { readonly store: Store }): Marketplace {
  const stored = async (): Promise<Array<{ key: string; manifest: Manifest }>> => {
    const entries = await store.list(SPACE);
    // What cannot be read as a manifest is a miss (A23).
    return entries.flatMap(({ key, value }) => {
      const { data } = Manifest.safeParse(value);
      return data ? [{ key, manifest: data }] : [];
    });
  };
  const put = (manifest: Manifest): Promise<boolean> =>
    store.put(SPACE, keyOf(manifest), manifest as unknown as JsonObject);

  return {
    async registerCapability(manifest) {
      const { data, error } = Manifest.safeParse(manifest);
      if (!data || !data.id.endsWith(`.${data.provider.toolName}`)) {
        const problems = error?.issues.map(({ path, message }) => ({ path: path.join('.'), message })) ?? [];
        const [first] = problems;
        const what = first ? `${first.path}: ${first.message}` : 'its id does not end with the name of its tool';
        throw new ToolscoutError('INVALID_REQUEST', `The manifest is not valid: ${what}.`, { problems });
      }
      await put(data);
    },
    async registerAll(manifests) {
      if (manifests.length === 0) return 0;
      const known = new Map((await stored()).map(({ key, manifest }) => [key, hashOf(manifest)]));
      const fresh = manifests.filter((manifest) => known.get(keyOf(manifest)) !== hashOf(manifest));
      for (const manifest of fresh) await put(manifest);
      return fresh.length;
    },
    async withdraw(server, tools) {
      let gone = 0;
      for (const { key, manifest } of await stored()) {
        const isMeant = serverOf(manifest) === server && (tools?.has(manifest.provider.toolName) ?? true);
        if (isMeant && (await store.delete(SPACE, key))) gone += 1;
      }
      return gone;
    },
    async list() {
      const manifests = (await stored()).map(({ manifest }) => manifest);
      return manifests.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    },
  };
}
