import { REGISTRATIONS } from '../approvals/index.js';
import { messageOf } from '../kernel/errors.js';
import { auditVerbs } from './verbs/audit-verbs.js';
import { configChangeVerbs } from './verbs/config-change-verbs.js';
import { configVerbs } from './verbs/config-verbs.js';
import { approvalVerbs } from './verbs/approval-verbs.js';
import { createAdmission } from './admission.js';
import { createCore } from './core.js';
import type { GatewayDeps } from './deps.js';
import { lockVerbs } from './verbs/lock-verbs.js';
import { discoveryVerbs } from './verbs/servers/discovery-verbs.js';
import { callVerbs } from './verbs/call-verbs.js';
import { createConfirming } from './verbs/confirm-verbs.js';
import { hostVerbs } from './verbs/host-verbs.js';
import { internalVerbs } from './verbs/internal-verbs.js';
import { reportVerbs } from './verbs/report-verbs.js';
import { serverVerbs } from './verbs/servers/server-verbs.js';
import { toolVerbs } from './verbs/tool-verbs.js';
import { subscribingVerbs } from './verbs/subscription-verbs.js';
import { registryVerbs } from './verbs/registry-verbs.js';
import { createExporting } from './verbs/export-verbs.js';
import { createOutputInference, inferAll } from '../catalog/learning/inference.js';
import { createScripting } from './verbs/script-verbs.js';
import { searchVerbs } from './verbs/search-verbs.js';
import { keepMarketplace } from './verbs/marketplace.js';
import { createProposing } from './verbs/servers/server-proposals.js';
import { createServerRegistry } from './verbs/server-registry.js';
import { signInVerbs } from './verbs/servers/sign-in-verbs.js';
import { createSessions } from './sessions.js';
import { savedVerbs } from './verbs/saved-verbs.js';
import { sessionVerbs } from './verbs/session-verbs.js';
import { studioVerbs } from './verbs/studio-verbs.js';
import { trafficVerbs } from './verbs/traffic-verbs.js';
import { memoryOf } from './pressure.js';
import { createTraffic } from './traffic.js';
import { createSkills } from './verbs/skill-verbs.js';
import type { Gateway, ToolscoutEvent } from './contract.js';
import { bindVerbs } from './bind-verbs.js';
import { showEvent } from './reports/shown-approval.js';
import { defineVerbs } from './verbs/define-verbs.js';
import { callerOf, LOCAL_VIEWER } from './viewer.js';
import type { Viewer } from '../model/viewer.js';

const DRAIN_MS = 5000;

/** In whose name toolscout itself calls tools, to infer what they answer. */
const TOOLSCOUT: Viewer = { ...LOCAL_VIEWER, principal: 'toolscout' };

/** Whether an event is about something that a viewer sees. */
function isToldTo(viewer: Viewer, event: ToolscoutEvent): boolean {
  if (!viewer.isLimited) return true;
  const { skill } = viewer;
  const server = event.type === 'approval' ? event.approval.server : 'server' in event ? event.server : undefined;
  // Which other skills there are is not for a skill to know.
  if (skill && event.type === 'skills') return false;
  if (skill && event.type === 'briefing') return event.briefing.skill_id === skill.id && !callerOf(viewer).isLimited;
  return server === undefined ? !callerOf(viewer).isLimited : viewer.sees(server);
}

/** Opens the gateway: stored lists are served at once, the rest is learned in the background. */
export function createGateway(deps: GatewayDeps): Gateway {
  const core = createCore(deps);
  const configuration = configVerbs(core);
  const unwatch = deps.store.onChange((space) => {
    if (space !== REGISTRATIONS || core.closing) return;
    // The reason has been reported; the old state goes on serving.
    configuration
      .reload(LOCAL_VIEWER)
      .catch((thrown: unknown) => deps.log.debug('config.kept', { reason: messageOf(thrown) }));
  });
  const subscribing = subscribingVerbs(core);
  const skills = createSkills(core);
  const confirming = createConfirming(core);
  const traffic = createTraffic({
    ...deps,
    redact: (value, server) => deps.redaction.shown(value, server),
    incoming: (server, result) => deps.redaction.incoming(server)?.result(result) ?? result,
  });
  const admission = createAdmission({
    ...deps,
    config: () => core.loaded.config.overload,
    memory: deps.memory ?? memoryOf(),
  });
  const keepTraffic = (): void => traffic.keep(core.loaded.config.traffic.keep);
  keepTraffic();
  core.events.on((event) => {
    if (event.type !== 'reloaded') return;
    keepTraffic();
    admission.renew();
  });
  const execution = callVerbs(core, skills, { confirmation: confirming.confirmer, traffic, admission });
  const outputs = createOutputInference({
    ...deps,
    config: () => core.loaded.config,
    call: (tool, args) => execution.call(TOOLSCOUT, tool.server, tool.name, args),
  });
  const exporting = createExporting(core, outputs);
  const proposing = createProposing(core, () => configuration.reload(LOCAL_VIEWER), exporting);
  const marketplace = keepMarketplace(core, outputs);
  core.events.on((event) => {
    const { introspectOutputSchemas, lazyOutputSchemas } = core.loaded.config;
    if (event.type !== 'learned' || !introspectOutputSchemas || lazyOutputSchemas) return;
    void inferAll(core.catalog.index.tools(event.server), outputs);
  });
  const registry = createServerRegistry(core);
  const sessions = createSessions(deps);
  const signIns = signInVerbs(core);
  const scripts = createScripting(core, execution.call, admission);

  const shutDown = async ({
    drainMs = DRAIN_MS,
    graceMs,
  }: NonNullable<Parameters<Gateway['close']>[0]>): Promise<void> => {
    unwatch();
    admission.close();
    sessions.close();
    const stopped = core.stop();
    skills.close();
    subscribing.stop();
    await registry.close();
    await scripts.close();
    await exporting.finished();
    await marketplace.finished();
    await deps.pool.close({ drainMs, graceMs });
    await stopped;
    await core.experience.settled();
    deps.cache.close();
    deps.signIns?.close();
    await deps.audit.close();
    await deps.replicas?.close();
    await deps.store.close();
  };
  let closed: Promise<void> | undefined;

  const discovering = discoveryVerbs(core, { outputs, exporting, marketplace });
  const verbs = {
    ...searchVerbs(core),
    ...execution,
    ...scripts.verbs,
    ...serverVerbs(core),
    ...toolVerbs(core, outputs),
    ...auditVerbs(core),
    ...reportVerbs(core),
    ...hostVerbs(core, traffic, admission),
    ...trafficVerbs(traffic),
    ...savedVerbs(core),
    ...internalVerbs(core, admission),
    ...subscribing.verbs,
    ...skills.verbs(execution.call),
    ...discovering,
    ...lockVerbs(core, (servers) => discovering['servers.discover'](LOCAL_VIEWER, servers)),
    ...registryVerbs(core, { proposing, exporting }),
    ...registry.verbs,
    ...exporting.verbs,
    ...configuration,
    ...proposing.verbs,
    ...approvalVerbs(core, exporting.refresh, marketplace.register),
    ...confirming.verbs,
    ...marketplace.verbs,
    ...signIns,
    ...sessionVerbs(sessions),
    ...configChangeVerbs(core, (viewer) => configuration.reload(viewer)),
    ...studioVerbs(core, {
      signInStatus: (id) => signIns['servers.signInStatus'](LOCAL_VIEWER, id),
      waitingCalls: async (viewer) => confirming.verbs['approvals.calls'](viewer, { state: 'waiting' }),
      storeStatus: () => configuration['config.storeStatus'](LOCAL_VIEWER),
    }),
    ...defineVerbs({
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
