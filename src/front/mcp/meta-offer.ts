import type { Gateway } from '../../gateway/index.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { callOptions, methodNotFound } from './exchange.js';
import { callMetaTool, instructionsFor, META_TOOLS } from './meta-tools.js';
import type { Offer } from './offer.js';

/** How long a host may keep our menu: it changes only with a new version. */
const MENU_TTL_MS = 3_600_000;

/** The five meta-tools, and nothing else. */
export function createMetaOffer(gateway: Gateway, info: Offer['info']): Offer {
  return {
    info,
    capabilities: { tools: {}, logging: {} },
    instructions: instructionsFor(gateway.coverage()),
    async answer(method, params, exchange) {
      if (method === 'tools/call') {
        const { name, arguments: args } = params;
        const options = callOptions(params, exchange);
        return callMetaTool(gateway, typeof name === 'string' ? name : '', isObject(args) ? args : {}, options);
      }
      if (method === 'tools/list') {
        const tools = META_TOOLS as JsonObject[];
        return exchange.host.era === 'legacy' ? { tools } : { tools, ttlMs: MENU_TTL_MS, cacheScope: 'public' };
      }
      throw methodNotFound(method);
    },
    // The menu is the same whatever stands behind it.
    concerns: () => false,
  };
}
