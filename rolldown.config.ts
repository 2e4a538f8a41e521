import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
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

/** Lets the command be run as a program: `npx` in a checkout runs the file itself. */
function executable(file: string): Plugin {
  return {
    name: 'executable',
    writeBundle: ({ dir = '.' }) => chmodSync(join(dir, file), 0o755),
  };
}

/**
 * The SDK brings a validator of its own, a second copy of a large library, for answers and questions that it checks
 * itself. Ours are never checked there, so it is left out; whoever asks it after all is told.
 */
function withoutSdkValidator(): Plugin {
  const left = '\0sdk-shims';
  return {
    name: 'without-sdk-validator',
    resolveId: (source) => (/^@modelcontextprotocol\/(client|server)\/_shims$/.test(source) ? left : undefined),
    load: (id) =>
      id === left
        ? `export { default as process } from 'node:process';
           export const CORS_IS_POSSIBLE = false;
           export class DefaultJsonSchemaValidator {
             getValidator() { throw new Error('The validator of the SDK is not part of toolscout.'); }
           }`
        : undefined,
  };
}

// Everything that is pure JavaScript is bundled and minified, because a host waits for the start of
// this process; the native database, the TypeScript loader and what most starts never load stay packages of their own.
const modules = defineConfig({
  input: {
    index: 'src/index.ts',
    compat: 'src/app/compat/index.ts',
    cli: 'src/bin.ts',
    'script-worker': 'src/scripts/worker.ts',
    'serve-alone': 'src/app/shared/serve-alone.ts',
  },
  platform: 'node',
  external: ['libsql', 'jiti', 'pg-native', 'quickjs-wasi', 're2js', /^node:/],
  // Its main file looks for its parts at run time, where the bundle has none; the other one imports them.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  plugins: [licences(), withoutSdkValidator(), executable('cli.js')],
  output: {
    dir: 'dist',
    format: 'esm',
    minify: true,
    // A single letter beyond Latin-1 doubles what the source of its file takes in memory.
    charset: 'ascii',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {
      groups: [
        // A forwarder loads this and nothing else; without a group of its own it would share a file with the gateway.
        { name: 'forward', test: /[\\/]src[\\/]app[\\/]shared[\\/]forward\.ts$/, priority: 1 },
        // What every start needs is one file: thirty small ones take longer to find than to read.
        { name: 'start', test: /[\\/]src[\\/]app[\\/](create-toolscout|serve)\.ts$/ },
      ],
    },
  },
});

/** The program itself: it forwards, or loads the modules beside it. */
const program = defineConfig({
  input: { cli: 'src/launch.ts' },
  platform: 'node',
  external: [/^node:/],
  plugins: [executable('cli.cjs')],
  output: { dir: 'dist', format: 'cjs', minify: true, charset: 'ascii', entryFileNames: '[name].cjs' },
});

// oxlint-disable-next-line import/no-default-export -- rolldown looks for the default export.
export default [modules, program];
