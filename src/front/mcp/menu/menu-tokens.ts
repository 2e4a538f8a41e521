import { wrapGateway, type Gateway } from '../../../gateway/index.js';
import type { JsonObject } from '../../../kernel/json.js';
import { sampleTokens } from '../../../kernel/token-sample.js';
import { estimateTokens } from '../../../kernel/tokens.js';
import type { ModeName } from '../../../model/config.js';
import type { Host } from '../../../model/host.js';
import { isAdminTool } from './admin-tools.js';
import { createCatalogMenu } from './catalog-surface.js';
import { createListItems } from './list-items.js';
import { createModeChoice } from './modes.js';

/** A host without a connection: it gets the menu and answers no request. */
const NO_HOST: Host = {
  id: 'studio',
  era: 'modern',
  capabilities: {},
  request: () => Promise.reject(new Error('This host has no connection.')),
  notify: () => undefined,
};

/** What a host is given before its first request, in tokens. */
export interface MenuTokens {
  /** The definitions of the tools in the menu, counted as for the audit record of a menu. */
  readonly menu: number;
  readonly instructions: number;
  /** How many tools the menu has, and how many of them are those of `serve --admin`. */
  readonly tools: number;
  readonly adminTools: number;
}

/** Counts the menu and the instructions in the configured mode, for a host of which nothing is known. */
export async function countMenuTokens(
  gateway: Gateway,
  { mode: forced, admin = false }: { readonly mode?: ModeName | undefined; readonly admin?: boolean } = {},
): Promise<MenuTokens> {
  // It is no menu that an agent was given, so it does not belong on the bill.
  const unbilled = wrapGateway(gateway, () => ({ 'hosts.noteMenu': () => undefined }));
  const { mode, hostModes, pinned } = gateway.internal.loaded().config;
  const surface = createCatalogMenu(unbilled, {
    info: { name: 'toolscout', version: '' },
    mode: createModeChoice(forced ?? mode, hostModes)({}),
    pinned,
    items: createListItems(),
    flat: false,
    admin,
    // As for every host of which that is not known: the menu then names what is behind it.
    showsInstructions: false,
  })();
  try {
    const exchange = { host: NO_HOST, principal: 'local', signal: new AbortController().signal };
    const tools: JsonObject[] = [];
    let page: JsonObject = {};
    do {
      const { nextCursor: cursor } = page;
      page = await surface.answer('tools/list', cursor === undefined ? {} : { cursor }, exchange);
      tools.push(...(page['tools'] as JsonObject[]));
    } while (page['nextCursor'] !== undefined);
    return {
      menu: sampleTokens(tools),
      instructions: estimateTokens(surface.instructions ?? ''),
      tools: tools.length,
      adminTools: tools.filter(({ name }) => admin && isAdminTool(String(name))).length,
    };
  } finally {
    surface.close?.();
  }
}
