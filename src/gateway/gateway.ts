import { REGISTRATIONS } from '../approvals/index.js';
import { messageOf } from '../kernel/errors.js';
import { administrationVerbs } from './administering.js';
import { createApproving } from './approving.js';
import { createCore, type GatewayDeps } from './core.js';
import { discoveryVerbs } from './discovering.js';
import { executionVerbs } from './executing.js';
import { createExporting } from './exporting.js';
import { lookingVerbs } from './looking.js';
import { registrationVerbs } from './registering.js';
import type { Gateway } from './verbs.js';

const DRAIN_MS = 5000;

/** Opens the gateway: what the store knows is served at once, the rest is learned in the background. */
export function createGateway(deps: GatewayDeps): Gateway {
  const core = createCore(deps);
  const administration = administrationVerbs(core);
  const unwatch = deps.store.onChange((space) => {
    if (space !== REGISTRATIONS || core.closing) return;
    // The reason has been reported; the old state goes on serving.
    administration.reload().catch((thrown: unknown) => deps.log.debug('config.kept', { reason: messageOf(thrown) }));
  });
  const exporting = createExporting(core);
  const approving = createApproving(core, exporting.refresh);

  const shutDown = async (drainMs: number): Promise<void> => {
    unwatch();
    core.stop();
    await exporting.finished();
    await approving.finished();
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
    ...executionVerbs(core),
    ...discoveryVerbs(core),
    ...exporting.verbs,
    ...administration,
    ...registrationVerbs(core, administration.reload),
    ...approving.verbs,
    onEvent: (listener) => core.events.on(listener),
    close: (options = {}) => (closed ??= shutDown(options.drainMs ?? DRAIN_MS)),
  };
}
