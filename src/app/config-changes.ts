import { readEnvironment, userConfigStem } from '../config/index.js';
import type { GatewayDeps } from '../gateway/index.js';
import { systemClock } from '../kernel/clock.js';
import type { Config, SourceType } from '../model/config.js';
import { placeOf } from './client-environment.js';

/** Where toolscout was started, as far as its config is concerned. */
interface Around {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly http: () => Config['http'];
}

/** How the config file is changed while toolscout runs; a config that is no file cannot be. */
export function changesOf(
  {
    config,
    demo,
    stateDir: wished,
  }: { readonly config?: unknown; readonly demo?: boolean; readonly stateDir?: string },
  { cwd, home, env, stateDir, http }: Around,
): Pick<GatewayDeps, 'configChanges' | 'planImport'> {
  if (typeof config === 'object' || demo) return {};
  const stateDirectory = wished === 'memory' ? undefined : stateDir;
  const { configHome: xdgConfigHome } = readEnvironment(env);
  return {
    async configChanges() {
      const { createConfigChanges } = await import('../config/edit/change-config.js');
      const { self } = placeOf({ home, env });
      const newPath = `${userConfigStem({ home, xdgConfigHome })}.json`;
      return createConfigChanges({ newPath, stateDirectory, now: systemClock.now, self, http });
    },
    async planImport({ sources, servers, credentials }) {
      const { planImport } = await import('../clients/import-plan.js');
      return planImport({
        // The route takes no other names.
        ...(sources.length > 0 && { clients: sources as readonly SourceType[] }),
        place: placeOf({ home, env, project: cwd }),
        find: { cwd, home, xdgConfigHome, ...(typeof config === 'string' && { file: config }) },
        stateDirectory,
        now: systemClock.now,
        credentials,
        ...(servers && { only: ({ id }) => servers.includes(id) }),
      });
    },
  };
}
