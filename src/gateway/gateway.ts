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
import type { Gateway, GatewayEvent } from './contract.js';
import { bindVerbs } from './bind-verbs.js';
import { showEvent } from './reports/shown-approval.js';
import { defineVerbs } from './verbs/define-verbs.js';
import { callerOf, LOCAL_VIEWER } from './viewer.js';
import type { Viewer } from '../model/viewer.js';

const DRAIN_MS = 5000;

/** In whose name toolscout itself calls tools, to infer what they answer. */
const TOOLSCOUT: Viewer = { ...LOCAL_VIEWER, principal: 'toolscout' };

/** Whether an event is about something that a viewer sees. */
function isToldTo(viewer: Viewer, event: GatewayEvent): boolean {
  if (!viewer.isLimited) return true;
  const { skill } = viewer;
  const server = event.type === 'approval' ? event.approval.server : 'server' in event ? event.server : undefined;
  // Which other skills there are is not for a skill to know.
  if (skill && event.type === 'skills') return false;
  if (skill && event.type === 'briefing') return event.briefing.skill_id === skill.id && !callerOf(viewer).isLimited;
  return server === undefined ? !callerOf(viewer).isLimited : viewer.sees(server);
}

/** Opens the gateway: what the store knows is served at once, the rest is learned in the background. */
export function createGateway(deps: GatewayDeps): Gateway {
  const core = createCore(deps);
  const administration = administrationVerbs(core);
  const unwatch = deps.store.onChange((space) => {
    if (space !== REGISTRATIONS || core.closing) return;
    // The reason has been reported; the old state goes on serving.
    administration
      .reload(LOCAL_VIEWER)
      .catch((thrown: unknown) => deps.log.debug('config.kept', { reason: messageOf(thrown) }));
  });
  const subscribing = subscribingVerbs(core);
  const skills = createSkills(core);
  const execution = executionVerbs(core, skills);
  const outputs = createOutputInference({
    ...deps,
    config: () => core.loaded.config,
    call: (tool, args) => execution.executeTool(TOOLSCOUT, tool.server, tool.name, args),
  });
  const exporting = createExporting(core, outputs);
  const proposing = createProposing(core, () => administration.reload(LOCAL_VIEWER), exporting);
  const marketplace = keepMarketplace(core, outputs);
  core.events.on((event) => {
    const { introspectOutputSchemas, lazyOutputSchemas } = core.loaded.config;
    if (event.type !== 'learned' || !introspectOutputSchemas || lazyOutputSchemas) return;
    void inferAll(core.catalog.index.tools(event.server), outputs);
  });
  const registry = registryVerbs(core);

  const shutDown = async ({
    drainMs = DRAIN_MS,
    graceMs,
  }: NonNullable<Parameters<Gateway['close']>[0]>): Promise<void> => {
    unwatch();
    const stopped = core.stop();
    skills.close();
    subscribing.stop();
    await registry.close();
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

  const verbs = {
    ...lookingVerbs(core),
    ...hostingVerbs(core),
    ...relayingVerbs(core),
    ...subscribing.verbs,
    ...execution,
    ...skills.verbs(execution.executeTool),
    ...discoveryVerbs(core, { outputs, exporting, marketplace }),
    ...findingVerbs(core, { proposing, exporting }),
    ...registry.verbs,
    ...exporting.verbs,
    ...administration,
    ...proposing.verbs,
    ...approvalVerbs(core, exporting.refresh, marketplace.register),
    ...marketplace.verbs,
    ...signInVerbs(core),
    ...defineVerbs({
      lineage: (_viewer) => lineage,
      ready: (_viewer) => core.filled(),
      onEvent: (viewer, listener) =>
        core.events.on((event) => {
          if (isToldTo(viewer, event)) listener(showEvent(viewer, event));
        }),
      close(_viewer, how = {}) {
        const close = (): Promise<void> => shutDown(how);
        return (closed ??= deps.closing ? deps.closing(close, how) : close());
      },
    }),
  };
  return bindVerbs(verbs, LOCAL_VIEWER);
}
