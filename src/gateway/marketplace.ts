import { approvalCheck, ruleCheck } from '../execute/index.js';
import { messageOf } from '../kernel/errors.js';
import type { Core } from './core.js';
import type { Gateway } from './verbs.js';

/** What is put into the marketplace: by a decision, by hand, or on its own. */
export interface MarketplaceKeeper {
  readonly verbs: Pick<Gateway, 'marketplace' | 'registerCapability'>;
  /** Registers what is offered now of a server, or of some of its tools; a failure does not undo a decision. */
  register(server: string, tools?: ReadonlySet<string>): Promise<number>;
  /** Resolves when every list that was learned has been registered (DISC-2). */
  finished(): Promise<void>;
}

/** The marketplace in step with the catalog: with `registerInMarketplace` every tool that is offered is registered. */
export function keepMarketplace(core: Core): MarketplaceKeeper {
  const { audit, log } = core.deps;
  const { marketplace } = core;

  const register = async (id: string, tools?: ReadonlySet<string>): Promise<number> => {
    const server = core.catalog.servers.get(id);
    const offered = core.catalog.index
      .tools(id)
      .filter(({ status, name }) => status === 'enabled' && (tools?.has(name) ?? true));
    if (!server || offered.length === 0) return 0;
    try {
      const { toolToManifest } = await import('../export/index.js');
      return await marketplace.registerAll(offered.map((tool) => toolToManifest(tool, server, core.hide)));
    } catch (thrown) {
      log.error('marketplace.unsaved', { server: id, reason: core.hide(messageOf(thrown)) });
      return 0;
    }
  };

  // One list after the other: nothing waits for them but the end.
  let registering: Promise<unknown> = Promise.resolve();
  core.events.on((event) => {
    if (event.type !== 'learned' || !core.loaded.config.registerInMarketplace) return;
    registering = registering.then(() => register(event.server));
  });

  return {
    register,
    verbs: {
      marketplace: () => marketplace.list(),
      async registerCapability(manifest) {
        await core.filled();
        const { toolName } = manifest.provider;
        const server = manifest.id.slice('mcp.'.length, -(toolName.length + 1));
        const tool = core.catalog.index.tool(server, toolName);
        // The marketplace holds what is approved; a manifest is no way around that.
        if (tool) {
          ruleCheck({ tool });
          approvalCheck({ tool });
        }
        await marketplace.registerCapability(manifest);
        await audit.recordNow({
          kind: 'capability-register',
          principal: 'local',
          server,
          tool: toolName,
          outcome: 'success',
        });
      },
    },
    async finished() {
      await registering;
    },
  };
}
