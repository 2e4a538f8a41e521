import { dirname, resolve } from 'node:path';
import type { Launch } from './config/index.js';
import type { CliDeps, ImportWish, InstallWish } from './front/cli/context.js';
import { configReader } from './main.js';
import { ToolscoutError } from './kernel/errors.js';
import type { SourceType } from './model/config.js';
import { homeOf, ownScript, placeOf } from './place.js';

/** What a command about other clients knows of the process. */
interface Around {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Variables that move folders belong to the home of this user, not to one that is named. */
const MOVERS = /^(XDG_CONFIG_HOME|APPDATA|CODEX_HOME|CLAUDE_CONFIG_DIR|TOOLS_YAML_PATH)$/;

function surroundings({ cwd, env }: Around, wish: { readonly home?: string; readonly project?: string }) {
  const isOther = wish.home !== undefined;
  const kept = isOther ? Object.fromEntries(Object.entries(env).filter(([name]) => !MOVERS.test(name))) : env;
  const home = isOther ? resolve(cwd, wish.home!) : homeOf(env);
  return { home, env: kept, project: resolve(cwd, wish.project ?? '.') };
}

async function planImport(around: Around, wish: ImportWish): ReturnType<CliDeps['planImport']> {
  const [{ planImport: plan }, { readEnvironment }] = await Promise.all([
    import('./config/import-plan.js'),
    import('./config/index.js'),
  ]);
  const { home, env, project } = surroundings(around, wish);
  return plan({
    // Names were checked against the list that comes from the same place.
    clients: wish.clients.length > 0 ? (wish.clients as SourceType[]) : undefined,
    place: placeOf({ home, env, project }),
    find: { file: wish.config, cwd: around.cwd, home, xdgConfigHome: readEnvironment(env).configHome },
  });
}

/** How a client starts or reaches this very toolscout. */
async function launchFor({ cwd, env }: Around, wish: InstallWish): Promise<Launch> {
  const file = wish.config === undefined ? undefined : resolve(cwd, wish.config);
  if (wish.transport === 'http') {
    const { config } = await configReader({ config: file, cwd, env })();
    return { type: 'http', url: `http://${config.http.host}:${config.http.port}/mcp` };
  }
  const found = file ?? (await nearbyConfig(cwd, env));
  const args = [ownScript(), 'serve', '--stdio', ...(found === undefined ? [] : ['--config', found])];
  return {
    type: 'stdio',
    command: process.execPath,
    args: ownScript().endsWith('.ts') ? ['--import', 'tsx', ...args] : args,
  };
}

/** A client starts its servers in a folder of its own choosing: a config that lies here must be named. */
async function nearbyConfig(cwd: string, env: Around['env']): Promise<string | undefined> {
  const { findConfig } = await import('./config/index.js');
  const path = await findConfig({ cwd, home: homeOf(env) });
  return path !== undefined && [cwd, resolve(cwd, '.toolscout')].includes(dirname(path)) ? path : undefined;
}

/** Whether a host of a name is shown the meta-tools by the config that toolscout will use. */
async function metaToolsShown({ cwd, env }: Around, wish: InstallWish): Promise<(host: string) => boolean> {
  const { createModeChoice } = await import('./front/mcp/modes.js');
  try {
    const file = wish.config === undefined ? undefined : resolve(cwd, wish.config);
    const { config } = await configReader({ config: file, cwd, env })();
    const choose = createModeChoice(config.mode, config.hostModes);
    return (host) => choose({ clientInfo: { name: host } }) !== 'passthrough';
  } catch (thrown) {
    // toolscout can be installed before its config is written; until then the default mode holds.
    if (!(thrown instanceof ToolscoutError) || thrown.code !== 'CONFIGURATION_ERROR') throw thrown;
    return () => true;
  }
}

async function installClient(around: Around, wish: InstallWish): ReturnType<CliDeps['install']> {
  const { install } = await import('./config/install.js');
  const { home, env, project } = surroundings(around, wish);
  return install({
    client: wish.client as SourceType,
    place: placeOf({ home, env, project }),
    scope: wish.project === undefined ? 'user' : 'project',
    launch: await launchFor(around, wish),
    showsMetaTools: await metaToolsShown(around, wish),
    uninstall: wish.uninstall,
    dryRun: wish.dryRun,
  });
}

/** What the commands need of other clients on this machine; read only when one of them runs. */
export function createClients(around: Around): Pick<CliDeps, 'planImport' | 'install' | 'clients'> {
  return {
    planImport: (wish) => planImport(around, wish),
    install: (wish) => installClient(around, wish),
    async clients() {
      const [{ installableClients }, { SOURCE_TYPES }] = await Promise.all([
        import('./config/install.js'),
        import('./model/config.js'),
      ]);
      return { importable: SOURCE_TYPES, installable: installableClients() };
    },
  };
}
