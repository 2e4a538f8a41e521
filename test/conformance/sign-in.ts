import { createSignIns, openBrowserInteraction, type SignIns } from '../../src/connect/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { silentLog } from '../../src/kernel/log.js';
import { createSecretMask } from '../../src/kernel/secrets.js';
import type { AuthConfig } from '../../src/model/config.js';
import { createMemoryStore } from '../../src/store/index.js';

/** The document the suite expects a client to name where it supports such documents. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json';

/** What a config would say for this scenario. */
function authFor(scenario: string, context: JsonObject): AuthConfig {
  const { client_id: clientId, client_secret: clientSecret } = context;
  if (typeof clientId !== 'string') return { clientMetadataUrl: CLIENT_DOCUMENT };
  return {
    ...(scenario.startsWith('auth/client-credentials') && { type: 'client-credentials' }),
    clientId,
    ...(typeof clientSecret === 'string' && { clientSecret }),
  };
}

/** Sign-ins with an unattended browser: it visits the page, and the authorization server sends it back. */
export function signInsFor(scenario: string, context: JsonObject): SignIns {
  const auth = authFor(scenario, context);
  const clock = systemClock;
  const signIns = createSignIns({
    store: createMemoryStore({ clock }),
    clock,
    log: silentLog,
    mask: createSecretMask(),
    interact: (server) =>
      openBrowserInteraction({ server, clock, timeoutMs: 60_000, open: async (page) => void (await fetch(page)) }),
  });
  return {
    ...signIns,
    session: ({ id, transport }) =>
      signIns.session({ id, transport: transport.type === 'stdio' ? transport : { ...transport, auth } }),
  };
}
