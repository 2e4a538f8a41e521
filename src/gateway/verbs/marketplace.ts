import { approvalCheck, ruleCheck } from '../../execute/index.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { Server } from '../../model/server.js';
import type { Tool } from '../../model/tool.js';
import type { Core } from '../core.js';
import { inferAll, type OutputInference } from '../../catalog/learning/inference.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** What is put into the marketplace: by a decision, by hand, or on its own. */
export interface MarketplaceKeeper {
  readonly verbs: VerbTable<'exports.marketplace' | 'exports.register' | 'exports.manifest'>;
  /** Registers what is offered now of a server, or of some of its tools; a failure does not undo a decision. */
  register(server: string, tools?: ReadonlySet<string>): Promise<number>;
  /** Registers those of these tools that are enabled. */
  registerTools(server: Server, tools: readonly Tool[], introspect?: boolean): Promise<number>;
  /** Resolves when every list that was learned has been registered (DISC-2). */
  finished(): Promise<void>;
}

/** The marketplace in step with the catalog: with `registerInMarketplace` every tool that is offered is registered. */
export function keepMarketplace(core: Core, outputs: OutputInference): MarketplaceKeeper {
  const { audit, log } = core.deps;
  const { marketplace } = core;

  const registerTools: MarketplaceKeeper['registerTools'] = async (server, tools, introspect) => {
    const enabled = tools.filter(({ status }) => status === 'enabled');
    if (enabled.length === 0) return 0;
    try {
      const { toolToManifest } = await import('../../export/index.js');
      const described = await inferAll(enabled, outputs, introspect);
      return await marketplace.registerAll(described.map((tool) => toolToManifest(tool, server, core.hide)));
    } catch (thrown) {
      log.error('marketplace.unsaved', { server: server.id, reason: core.hide(messageOf(thrown)) });
      return 0;
    }
  };

  const register = async (id: string, tools?: ReadonlySet<string>): Promise<number> => {
    const server = core.catalog.servers.get(id);
    const offered = core.catalog.index.tools(id).filter(({ name }) => tools?.has(name) ?? true);
    return server ? registerTools(server, offered) : 0;
  };

  // One list after the other: nothing waits for them but the end.
  let registering: Promise<unknown> = Promise.resolve();
  core.events.on((event) => {
    if (event.type !== 'learned' || !core.loaded.config.registerInMarketplace) return;
    registering = registering.then(() => register(event.server));
  });
  /** A manifest that is registered already gets the output schema that was inferred since. */
  const describeAgain = async (tool: Tool): Promise<number> => {
    const server = core.catalog.servers.get(tool.server);
    try {
      const isRegistered = (await marketplace.list()).some(({ id }) => id === `mcp.${tool.server}.${tool.name}`);
      return server && isRegistered ? await registerTools(server, [tool]) : 0;
    } catch (thrown) {
      log.warn('marketplace.unsaved', { server: tool.server, reason: core.hide(messageOf(thrown)) });
      return 0;
    }
  };
  outputs.onInferred((tool) => {
    registering = registering.then(() => describeAgain(tool));
  });

  return {
    register,
    registerTools,
    verbs: defineVerbs({
      'exports.marketplace': (_viewer) => marketplace.list(),
      async 'exports.manifest'(_viewer, tool) {
        const server = core.catalog.server(tool.server);
        const { toolToManifest } = await import('../../export/index.js');
        return toolToManifest(tool.inferredOutput ? tool : await outputs.withOutput(tool, false), server, core.hide);
      },
      async 'exports.register'({ principal }, manifest) {
        await core.filled();
        const { toolName } = manifest.provider;
        const server = manifest.id.slice('mcp.'.length, -(toolName.length + 1));
        const tool = core.catalog.index.tool(server, toolName);
        // The marketplace holds what is approved; a manifest is no way around that.
        if (manifest.fallback) {
          const why = 'the server does not list it in tools/list; toolscout only inferred it';
          throw new ToolscoutError('TOOL_DISABLED', `"${manifest.id}" cannot be registered: ${why}.`, {
            remedy: { kind: 'find-tool', server, listed: true },
          });
        }
        if (tool) {
          ruleCheck({ tool });
          approvalCheck({ tool });
        }
        await marketplace.registerCapability(manifest);
        await audit.recordNow({
          kind: 'capability-register',
          principal,
          server,
          tool: toolName,
          outcome: 'success',
        });
      },
    }),
    async finished() {
      await registering;
    },
  };
}
