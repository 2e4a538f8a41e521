import { administrationVerbs } from './administering.js';
import { createCore, type GatewayDeps } from './core.js';
import { discoveryVerbs } from './discovering.js';
import { executionVerbs } from './executing.js';
import { createLogLevels, hostingVerbs } from './hosting.js';
import { lookingVerbs } from './looking.js';
import { relayingVerbs } from './relaying.js';
import { subscribingVerbs } from './subscribing.js';
import type { Gateway } from './verbs.js';

const DRAIN_MS = 5000;

/** Opens the gateway: what the store knows is served at once, the rest is learned in the background. */
export function createGateway(deps: GatewayDeps): Gateway {
  const core = createCore(deps);
  const levels = createLogLevels(core);
  const { subscribe, stop: unsubscribeAll } = subscribingVerbs(core);

  const shutDown = async (drainMs: number): Promise<void> => {
    core.stop();
    unsubscribeAll();
    await deps.pool.close({ drainMs });
    await core.experience.settled();
    deps.cache.close();
    await deps.audit.close();
    await deps.store.close();
  };
  let closed: Promise<void> | undefined;

  return {
    ready: core.filled,
    ...lookingVerbs(core),
    ...executionVerbs(core, levels),
    ...hostingVerbs(core, levels),
    ...relayingVerbs(core, levels),
    subscribe,
    ...discoveryVerbs(core),
    ...administrationVerbs(core),
    onEvent: (listener) => core.events.on(listener),
    close: (options = {}) => (closed ??= shutDown(options.drainMs ?? DRAIN_MS)),
  };
}
