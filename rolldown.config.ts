import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'rolldown';

/** The folder of the package a bundled module comes from, or `undefined` for our own. */
function packageOf(module: string): string | undefined {
  const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module);
  return match?.[1];
}

/** Writes the licences of everything that is bundled beside the bundle: they ask for it. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      const folders = new Set(modules.map(packageOf).filter((folder) => folder !== undefined));
      const notices = [...folders].toSorted().map((folder) => {
        const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
          [key in 'name' | 'version' | 'license']: string;
        };
        const file = existsSync(folder) && readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
        return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8') : ''}`;
      });
      this.emitFile({
        type: 'asset',
        fileName: 'THIRD-PARTY-LICENSES.txt',
        source: notices.join(`\n${'-'.repeat(80)}\n`),
      });
    },
  };
}

// Everything that is pure JavaScript is bundled and minified, because a host waits for the start of
// this process; the native database and the TypeScript loader stay packages of their own.
// oxlint-disable-next-line import/no-default-export -- rolldown looks for the default export.
export default defineConfig({
  input: { index: 'src/index.ts', cli: 'src/bin.ts' },
  platform: 'node',
  external: ['libsql', 'jiti', /^node:/],
  // Its main file looks for its parts at run time, where the bundle has none; the other one imports them.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  plugins: [licences()],
  output: {
    dir: 'dist',
    format: 'esm',
    minify: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
});
