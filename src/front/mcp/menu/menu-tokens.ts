import { wrapGateway, type Gateway } from '../../../gateway/index.js';
import type { JsonObject } from '../../../kernel/json.js';
import { estimateJsonTokens, estimateTokens } from '../../../kernel/tokens.js';
import type { ModeName } from '../../../model/config.js';
import type { Host } from '../../../model/host.js';
import { createCatalogSurface } from './catalog-surface.js';
import { createListItems } from './list-items.js';
import { createModeChoice } from './modes.js';

/** A host that nobody is behind: it is given the menu and asked nothing. */
const NOBODY: Host = {
  id: 'studio',
  era: 'modern',
  capabilities: {},
  request: () => Promise.reject(new Error('Nobody is behind this host.')),
  notify: () => undefined,
};

/** What a host that nobody knows pays before it asks anything: the menu of the configured mode and the instructions. */
export async function countMenuTokens(gateway: Gateway, forced?: ModeName): Promise<number> {
  // It is no menu that an agent was given, so it does not belong on the bill.
  const unbilled = wrapGateway(gateway, () => ({ 'hosts.noteMenu': () => undefined }));
  const { mode, hostModes, pinned } = gateway.internal.loaded().config;
  const surface = createCatalogSurface(unbilled, {
    info: { name: 'toolscout', version: '' },
    mode: createModeChoice(forced ?? mode, hostModes)({}),
    pinned,
    items: createListItems(),
    flat: false,
  });
  try {
    const exchange = { host: NOBODY, principal: 'local', signal: new AbortController().signal };
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
