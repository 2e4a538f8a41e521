import { readFile, stat } from 'node:fs/promises';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { Variables } from './environment.js';
import { expand } from './resolve/expand.js';
import { formatOf, parseConfig } from './read/parse.js';

/** What stands in the inventory file, or why nothing can be read from it. */
export interface InventoryContent {
  readonly value?: unknown;
  readonly missing?: string;
  /** There is no such file at all. */
  readonly isAbsent?: boolean;
}

/** The inventory file; the same bytes are parsed once. */
export interface InventoryFile {
  read(): Promise<InventoryContent>;
  /** Fills in `${VAR}` as a config does; the values are secrets. */
  expand(text: string): {
    readonly text: string;
    readonly problems: readonly string[];
    readonly values: readonly string[];
  };
}

/**
 * Another person may have written a file in the current folder; filled in, it could send the user's variables to any
 * address.
 */
const NOT_FILLED =
  'uses environment variables, which are filled in only for a file that you name; name it in TOOLS_YAML_PATH, or its hosts in REGISTRY_ALLOWED_HOSTS';

const MAX_FILE = 4 * 1024 * 1024;

/**
 * The file that `TOOLS_YAML_PATH` names, as the registry of our own servers reads it (REG-4): YAML, JSON or TOML, never
 * code. Taking servers from it into the catalog is another matter: `sources/tools-yaml.ts`. Without `mayFill` no
 * variable is filled in.
 */
export function createInventoryFile(path: string, env: Variables, mayFill: boolean): InventoryFile {
  let known: { readonly stamp: string; readonly content: InventoryContent } | undefined;

  const parse = async (): Promise<InventoryContent> => {
    if (/^(ts|js|mjs)$/.test(formatOf(path))) return { missing: `${path} is code` };
    return { value: await parseConfig(await readFile(path, 'utf8'), path) };
  };

  return {
    async read() {
      try {
        const { mtimeMs, size, ino } = await stat(path);
        if (size > MAX_FILE) return { missing: `${path} is larger than ${MAX_FILE} bytes` };
        const stamp = `${ino}:${mtimeMs}:${size}`;
        if (known?.stamp !== stamp) known = { stamp, content: await parse() };
        return known.content;
      } catch (thrown) {
        known = undefined;
        if ((thrown as NodeJS.ErrnoException).code === 'ENOENT')
          return { missing: `${path} does not exist`, isAbsent: true };
        if (thrown instanceof ToolscoutError) return { missing: thrown.message };
        return { missing: `${path} cannot be read: ${messageOf(thrown)}` };
      }
    },
    expand: (text) =>
      mayFill || !text.includes('${') ? expand(text, env) : { text, values: [], problems: [NOT_FILLED] },
  };
}
