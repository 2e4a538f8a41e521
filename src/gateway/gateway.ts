import { REGISTRATIONS } from '../approvals/index.js';
import { messageOf } from '../kernel/errors.js';
import { createLineage } from '../protocol/lineage.js';
import { administrationVerbs } from './verbs/admin-verbs.js';
import { approvalVerbs } from './verbs/approval-verbs.js';
import { createCore } from './core.js';
import type { GatewayDeps } from './deps.js';
import { discoveryVerbs } from './verbs/discovery-verbs.js';
import { executionVerbs } from './verbs/call-verbs.js';
import { hostingVerbs } from './verbs/host-sessions.js';
import { relayingVerbs } from './verbs/relay-verbs.js';
import { subscribingVerbs } from './verbs/subscription-verbs.js';
import { findingVerbs } from './verbs/registry-verbs.js';
import { createExporting } from './verbs/export-verbs.js';
import { createOutputInference, inferAll } from '../catalog/learning/inference.js';
import { lookingVerbs } from './verbs/search-verbs.js';
import { keepMarketplace } from './verbs/marketplace.js';
import { createProposing } from './verbs/server-proposals.js';
import { registryVerbs } from './verbs/server-registry.js';
import { signInVerbs } from './verbs/sign-in-verbs.js';
import { createSkills } from './verbs/skill-verbs.js';
import type { Gateway } from './contract.js';

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
  const { subscribe, stop: unsubscribeAll } = subscribingVerbs(core);
  const skills = createSkills(core);
  const execution = executionVerbs(core, skills);
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
    ...hostingVerbs(core),
    ...relayingVerbs(core),
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
