import type { JsonObject } from '../../kernel/json.js';
import { NotLaunchable } from './values.js';
import { textAt } from '../server-json.js';

/** The program that runs a kind of package, and how the package is named to it. */
export interface Runner {
  readonly command: string;
  /** What stands before everything that the entry adds. */
  readonly before: readonly string[];
  /** The package itself, pinned. */
  readonly name: string;
  /** What stands between the package and its arguments, when it has any or not. */
  readonly after: readonly string[];
  /** What stands before arguments only. */
  readonly separator: readonly string[];
}

const NPM_NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
const PYPI_NAME = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i;
const NUGET_NAME = /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/i;
const VERSION = /^v?\d[0-9a-z.+!-]*$/i;
const IMAGE =
  /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::(\w[\w.-]{0,127}))?(?:@sha256:[a-f0-9]{64})?$/;

/** Where packages of a kind are taken from; another place would be ignored by the runner, which takes its own. */
const HOMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['npm', ['registry.npmjs.org']],
  ['pypi', ['pypi.org']],
  ['nuget', ['api.nuget.org', 'nuget.org', 'www.nuget.org']],
]);

const MAX_LENGTH = 512;

function checkHome(kind: string, source: JsonObject): void {
  const base = textAt(source, 'registryBaseUrl');
  const homes = HOMES.get(kind);
  if (base === undefined || homes === undefined) return;
  const host = URL.canParse(base) ? new URL(base).hostname : undefined;
  if (host === undefined || !homes.includes(host)) {
    throw new NotLaunchable(`its package is not on ${homes[0]}, where its runner would take it from`);
  }
}

function identifierOf(source: JsonObject, kind: string, form: RegExp): string {
  const identifier = textAt(source, 'identifier');
  if (identifier === undefined) throw new NotLaunchable('its package has no identifier');
  if (identifier.length > MAX_LENGTH || !form.test(identifier)) {
    throw new NotLaunchable(`"${identifier.slice(0, 100)}" is not the name of ${kind}`);
  }
  return identifier;
}

function versionOf(source: JsonObject): string {
  const version = textAt(source, 'version');
  if (version === undefined) throw new NotLaunchable('its package names no version, so what would run is not known');
  if (version.length > MAX_LENGTH || !VERSION.test(version) || /\.x$/i.test(version)) {
    throw new NotLaunchable(`"${version.slice(0, 100)}" is not one exact version`);
  }
  return version;
}

/** An image with a tag or a digest; without one the newest would run, whatever it is by then. */
function imageOf(source: JsonObject): string {
  const identifier = identifierOf(source, 'a container image', IMAGE);
  if (identifier.includes('@sha256:')) return identifier;
  const tag = IMAGE.exec(identifier)?.[1];
  const pinned = tag === undefined && textAt(source, 'version') !== undefined ? versionOf(source) : tag;
  if (pinned === undefined) throw new NotLaunchable('its image names no tag, so what would run is not known');
  if (pinned === 'latest') throw new NotLaunchable('the tag "latest" of its image is not one exact version');
  return tag === undefined ? `${identifier}:${pinned}` : identifier;
}

function refuseBundle(source: JsonObject): never {
  const sum = textAt(source, 'fileSha256');
  if (sum === undefined || !/^[a-f0-9]{64}$/i.test(sum)) {
    throw new NotLaunchable('it is an MCPB bundle without a SHA-256, so it cannot be verified');
  }
  throw new NotLaunchable(
    `it is an MCPB bundle, which must be verified before it runs: download it, compare its SHA-256 with ${sum}, ` +
      'unpack it and configure its command',
  );
}

/** How a package is run. Only its kind, its name and its version decide; `runtimeHint` does not (A4). */
export function runnerOf(source: JsonObject): Runner {
  const kind = textAt(source, 'registryType') ?? '';
  if (kind === 'mcpb') refuseBundle(source);
  if (textAt(source, 'fileSha256') !== undefined) {
    throw new NotLaunchable('its package has a SHA-256 that its runner cannot verify');
  }
  checkHome(kind, source);
  switch (kind) {
    case 'npm':
      return {
        command: 'npx',
        before: ['-y'],
        name: `${identifierOf(source, 'an npm package', NPM_NAME)}@${versionOf(source)}`,
        after: [],
        separator: [],
      };
    case 'pypi':
      return {
        command: 'uvx',
        before: [],
        name: `${identifierOf(source, 'a PyPI package', PYPI_NAME)}==${versionOf(source)}`,
        after: [],
        separator: [],
      };
    case 'nuget':
      return {
        command: 'dnx',
        before: [],
        name: `${identifierOf(source, 'a NuGet package', NUGET_NAME)}@${versionOf(source)}`,
        after: ['--yes'],
        separator: ['--'],
      };
    case 'oci':
      return { command: 'docker', before: ['run', '-i', '--rm'], name: imageOf(source), after: [], separator: [] };
    default:
      throw new NotLaunchable(`toolscout cannot run packages of the kind "${kind.slice(0, 50)}"`);
  }
}
