import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Embed, LoadedEncoder } from '../catalog/encoding.js';
import { ToolscoutError } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';

/** What a package may export: the function itself, or the weights of EnergeticAI, whose library makes the function. */
interface EncoderPackage {
  readonly embed?: unknown;
  readonly modelSource?: unknown;
}

interface EnergeticLibrary {
  readonly initModel: (source: unknown) => Promise<{ readonly embed: Embed }>;
}

/**
 * Loads a sentence encoder that is installed beside a config file: a package that exports `embed`. Nothing is downloaded.
 *
 * @throws ToolscoutError when the package is not there or exports no such function.
 */
export async function loadEncoder(name: string, config: string): Promise<LoadedEncoder> {
  const require = createRequire(config);
  const load = async (wanted: string): Promise<unknown> => {
    const module = (await import(pathToFileURL(resolved(require, wanted)).href)) as Record<string, unknown>;
    // A CommonJS package may have its exports only as the default.
    return { ...(module['default'] as object | undefined), ...module };
  };
  const id = sha256(`${name}\n${await readFile(packageFile(resolved(require, name), name), 'utf8')}`);
  const found = (await load(name)) as EncoderPackage;
  if (typeof found.embed === 'function') return { id, embed: found.embed as Embed };
  if (found.modelSource === undefined) throw unusable(name, 'it exports no function `embed`');
  const { initModel } = (await load('@energetic-ai/embeddings')) as EnergeticLibrary;
  const model = await initModel(found.modelSource);
  return { id, embed: async (texts) => model.embed(texts) };
}

function resolved(require: NodeJS.Require, name: string): string {
  try {
    return require.resolve(name);
  } catch (thrown) {
    throw unusable(name, 'it is not installed beside the config', thrown);
  }
}

/** The manifest of a package, above the file that is loaded: it names the version. */
function packageFile(entry: string, name: string): string {
  const folder = join('node_modules', ...name.split('/'));
  const at = entry.lastIndexOf(folder);
  return at < 0 ? join(dirname(entry), 'package.json') : join(entry.slice(0, at + folder.length), 'package.json');
}

function unusable(name: string, reason: string, cause?: unknown): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `The encoder "${name}" cannot be used: ${reason}.`, {
    suggestion: `Install it with npm in the folder of the config, or take search.encoder out of the config.`,
    cause,
  });
}
