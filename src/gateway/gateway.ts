import { REGISTRATIONS } from '../approvals/index.js';
import { messageOf } from '../kernel/errors.js';
import { createLineage } from '../kernel/lineage.js';
import { administrationVerbs } from './administering.js';
import { approvalVerbs } from './approving.js';
import { createCore } from './core.js';
import type { GatewayDeps } from './deps.js';
import { discoveryVerbs } from './discovering.js';
import { executionVerbs } from './executing.js';
import { createLogLevels, hostingVerbs } from './hosting.js';
import { relayingVerbs } from './relaying.js';
import { subscribingVerbs } from './subscribing.js';
import { findingVerbs } from './finding.js';
import { createExporting } from './exporting.js';
import { createOutputInference, inferAll } from './inference.js';
import { lookingVerbs } from './looking.js';
import { keepMarketplace } from './marketplace.js';
import { createProposing } from './proposing.js';
import { registryVerbs } from './server-registry.js';
import { signInVerbs } from './sign-in.js';
import { createSkills } from './skills.js';
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
  const levels = createLogLevels(core);
  const { subscribe, stop: unsubscribeAll } = subscribingVerbs(core);
  const skills = createSkills(core);
  const execution = executionVerbs(core, levels, skills);
  const outputs = createOutputInference({
    ...deps,
    config: () => core.loaded.config,
    call: (tool, args) => execution.executeTool(tool.server, tool.name, args, { principal: 'toolscout' }),
  });
  const exporting = createExporting(core, outputs);
  const proposing = createProposing(core, administration.reload, exporting);
  const marketplace = keepMarketplace(core, outputs);
  core.events.on((event) => {
    const { introspectOutputSchemas, lazyOutputSchemas } = core.loaded.config;
    if (event.type !== 'learned' || !introspectOutputSchemas || lazyOutputSchemas) return;
    void inferAll(core.catalog.index.tools(event.server), outputs);
  });
  const { close: closeRegistry, ...registry } = registryVerbs(core);

  const shutDown = async (drainMs: number, graceMs?: number): Promise<void> => {
    unwatch();
    const stopped = core.stop();
    skills.close();
    unsubscribeAll();
    await closeRegistry();
    await exporting.finished();
    await marketplace.finished();
    await deps.pool.close({ drainMs, graceMs });
    await stopped;
    await core.experience.settled();
    deps.cache.close();
    deps.signIns?.close();
    await deps.audit.close();
    await deps.store.close();
  };
  const lineage = deps.lineage ?? createLineage({ clock: deps.clock });
  let closed: Promise<void> | undefined;

  return {
    lineage: () => lineage,
    ready: core.filled,
    ...lookingVerbs(core),
    ...hostingVerbs(core, levels),
    ...relayingVerbs(core, levels),
    subscribe,
    ...execution,
    ...skills.verbs(execution.executeTool),
    ...discoveryVerbs(core, { outputs, exporting, marketplace }),
    ...findingVerbs(core, { proposing, exporting }),
    ...registry,
    ...exporting.verbs,
    ...administration,
    ...proposing.verbs,
    ...approvalVerbs(core, exporting.refresh, marketplace.register),
    ...marketplace.verbs,
    ...signInVerbs(core),
    onEvent: (listener) => core.events.on(listener),
    close: (options = {}) => (closed ??= shutDown(options.drainMs ?? DRAIN_MS, options.graceMs)),
  };
}
