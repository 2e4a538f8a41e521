import { wrapGateway, type Gateway } from '../../../gateway/index.js';
import type { JsonObject } from '../../../kernel/json.js';
import { estimateJsonTokens, estimateTokens } from '../../../kernel/tokens.js';
import type { ModeName } from '../../../model/config.js';
import type { Host } from '../../../model/host.js';
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

/**
 * The tokens of the menu and the instructions in the configured mode, for an unknown host, before its first request.
 */
export async function countMenuTokens(gateway: Gateway, forced?: ModeName): Promise<number> {
  // It is no menu that an agent was given, so it does not belong on the bill.
  const unbilled = wrapGateway(gateway, () => ({ 'hosts.noteMenu': () => undefined }));
  const { mode, hostModes, pinned } = gateway.internal.loaded().config;
  const surface = createCatalogMenu(unbilled, {
    info: { name: 'toolscout', version: '' },
    mode: createModeChoice(forced ?? mode, hostModes)({}),
    pinned,
    items: createListItems(),
    flat: false,
  })();
  try {
    const exchange = { host: NO_HOST, principal: 'local', signal: new AbortController().signal };
    let tokens = surface.instructions === undefined ? 0 : estimateTokens(surface.instructions);
    let page: JsonObject = {};
    do {
      const { nextCursor: cursor } = page;
      page = await surface.answer('tools/list', cursor === undefined ? {} : { cursor }, exchange);
      for (const tool of page['tools'] as JsonObject[]) tokens += estimateJsonTokens(tool);
    } while (page['nextCursor'] !== undefined);
    return tokens;
  } finally {
    surface.close?.();
  }
}
