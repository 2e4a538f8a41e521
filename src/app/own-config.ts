import { join, resolve } from 'node:path';
import type { CliDeps } from '../front/cli/context.js';
import { systemClock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { placeOf } from './client-environment.js';
import { homeOf, stateDirectoryOf } from './state-place.js';
import { VERSION } from '../kernel/version.js';

/** The parts of the process that a command about the config needs. */
interface Around {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where editors find the JSON Schema of the config of this version. */
const SCHEMA_URL = `https://unpkg.com/toolscout@${VERSION}/dist/schemas/config.json`;

/** Where a config is looked for, and where approvals are. */
async function placesFor(around: Around, file?: string, stateDir?: string) {
  const { readEnvironment } = await import('../config/index.js');
  const { cwd, env } = around;
  const stateDirectory = stateDir === 'memory' ? undefined : stateDirectoryOf({ ...around, stateDir });
  return { file, cwd, home: homeOf(env), xdgConfigHome: readEnvironment(env).configHome, stateDirectory };
}

/** What the commands that write the user's own config need; loaded only when one of them runs. */
export function createOwnConfig(
  around: Around,
): Pick<CliDeps, 'initConfig' | 'addServer' | 'removeServer' | 'planApproval' | 'secrets'> {
  return {
    async initConfig({ config, project }) {
      const [find, { formatOf }, { starterConfig }, { openFile, replaceFile }, trust] = await Promise.all([
        import('../config/read/find.js'),
        import('../config/read/parse.js'),
        import('../config/edit/starter.js'),
        import('../config/edit/replace-file.js'),
        import('../config/review/trust.js'),
      ]);
      const places = await placesFor(around);
      const own = find.userConfigStem(places);
      const stem = project === undefined ? own : join(resolve(around.cwd, project), 'toolscout.config');
      const path = config === undefined ? `${stem}.jsonc` : resolve(around.cwd, config);
      const opened = await openFile(path);
      // A file with another ending in the same place would be read instead, or not be read any more.
      const [there] = opened.text === undefined && config === undefined ? await find.configFilesAt(stem) : [];
      const taken = opened.text === undefined ? there : path;
      if (taken !== undefined) {
        throw new ToolscoutError('CONFIGURATION_ERROR', `${taken} already exists. Nothing was written.`, {
          suggestion: 'Add a server to it with toolscout add, or name another file with --config.',
          file: taken,
        });
      }
      const text = starterConfig(formatOf(path), SCHEMA_URL);
      await replaceFile(opened, text);
      // The user has just had it written, so it is used in its folder.
      if (stem !== own || config !== undefined) {
        await trust.approveConfig(
          places.stateDirectory!,
          path,
          await trust.fingerprintOf(path, text),
          systemClock.now(),
        );
      }
      return { path, schema: SCHEMA_URL };
    },

    async addServer({ id, entry, config, allowSecrets }) {
      const [find, { literalSecrets }, { writeServer }, { showEntry }, trust] = await Promise.all([
        import('../config/read/find.js'),
        import('../config/secrets/literal-secrets.js'),
        import('../config/edit/write-server.js'),
        import('../config/resolve/create-server.js'),
        import('../config/review/trust.js'),
      ]);
      const secrets = literalSecrets(entry);
      if (secrets.length > 0 && !allowSecrets) {
        throw new ToolscoutError(
          'INVALID_REQUEST',
          `"${id}" was not added: ${secrets.join(', ')} would be written to the config in plain text.`,
          {
            suggestion:
              "Put the value into an environment variable and write '${NAME}', or repeat with --allow-secrets.",
            problems: secrets.map((path) => ({ path, message: 'looks like a credential' })),
          },
        );
      }
      const places = await placesFor(around, config);
      const named = config === undefined ? undefined : resolve(around.cwd, config);
      const inForce = named === undefined ? (await trust.chooseConfig(places))?.path : undefined;
      const isNew = named === undefined ? inForce === undefined : !(await isThere(named));
      const path = named ?? inForce ?? `${find.userConfigStem(places)}.json`;
      const { self } = placeOf({ home: homeOf(around.env), env: around.env });
      await trust.keepApproved({ ...places, path, now: systemClock.now }, () =>
        writeServer(id, entry, { newPath: path, self, ...(!isNew && { path }) }),
      );
      return { path, isNew, shown: showEntry(entry), problem: await problemOf(id, path, around) };
    },

    async removeServer({ id, config }) {
      const [{ chooseConfig, keepApproved }, { removeServer }] = await Promise.all([
        import('../config/review/trust.js'),
        import('../config/edit/write-server.js'),
      ]);
      const places = await placesFor(around, config);
      const path = (await chooseConfig(places))?.path;
      if (path === undefined) {
        throw new ToolscoutError('SERVER_NOT_FOUND', `There is no config, so there is no server "${id}" to remove.`, {
          suggestion: 'Name the config with --config.',
        });
      }
      await keepApproved({ ...places, path, now: systemClock.now }, () => removeServer(id, path));
      return { path };
    },

    secrets(config) {
      const { cwd, env } = around;
      const find = async (): Promise<string> => {
        const [{ configReader }, { defaultSecretsFile }] = await Promise.all([
          import('./open-gateway.js'),
          import('../config/secrets/secrets-file.js'),
        ]);
        const file = config === undefined ? undefined : resolve(cwd, config);
        const { secretsFile } = await configReader({ config: file, cwd, env })();
        return secretsFile ?? defaultSecretsFile(await placesFor(around));
      };
      return {
        async set(name, value) {
          const { writeSecrets } = await import('../config/secrets/secrets-file.js');
          const path = await find();
          await writeSecrets(path, { [name]: value });
          return { path };
        },
        async list() {
          const { readSecretsFile, REPAIR_SECRETS_FILE } = await import('../config/secrets/secrets-file.js');
          const path = await find();
          const { values, problem } = await readSecretsFile(path);
          if (problem !== undefined)
            throw new ToolscoutError('CONFIGURATION_ERROR', `${path} ${problem}`, {
              suggestion: REPAIR_SECRETS_FILE,
              file: path,
            });
          return { path, names: Object.keys(values).toSorted() };
        },
        async remove(name) {
          const { removeSecret } = await import('../config/secrets/secrets-file.js');
          const path = await find();
          return { path, removed: await removeSecret(path, name) };
        },
      };
    },

    async planApproval({ file, stateDir, hash }) {
      const { planApproval } = await import('../config/review/plan-approval.js');
      const { stateDirectory, ...places } = await placesFor(around, file, stateDir);
      if (stateDirectory === undefined) {
        throw new ToolscoutError('INVALID_REQUEST', 'The approval cannot be stored: there is no state directory.', {
          suggestion: 'Leave out --state-dir memory.',
        });
      }
      const plan = await planApproval({ find: places, stateDirectory, hash, env: around.env, now: systemClock.now });
      const { path, isCode } = plan;
      const act = {
        principal: 'local',
        route: 'cli',
        outcome: 'success',
        detail: { path, hash: plan.hash, isCode },
      } as const;
      return {
        ...plan,
        async approve() {
          const { recordAct } = await import('./open-gateway.js');
          await recordAct(stateDirectory, { kind: 'config-approve', ...act }, plan.approve);
        },
        async withdraw() {
          const { recordAct } = await import('./open-gateway.js');
          // Not held up by a store that fails: it only takes rights away.
          const isWithdrawn = await plan.withdraw();
          if (isWithdrawn) await recordAct(stateDirectory, { kind: 'config-withdraw', ...act });
          return isWithdrawn;
        },
      };
    },
  };
}

/** Why a server of a config cannot be used; nothing where the config itself cannot be, which other commands say. */
async function problemOf(id: string, config: string, { cwd, env }: Around): Promise<string | undefined> {
  const { configReader } = await import('./open-gateway.js');
  try {
    const { servers } = await configReader({ config, cwd, env })();
    return servers.find((server) => server.id === id)?.problem;
  } catch (thrown) {
    if (!(thrown instanceof ToolscoutError)) throw thrown;
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  const { openFile } = await import('../config/edit/replace-file.js');
  return (await openFile(path)).text !== undefined;
}
