import { defineConfig } from 'rolldown';

// Everything that is pure JavaScript is bundled and minified, because a host waits for the start of
// this process; the native database and the TypeScript loader stay packages of their own.
// oxlint-disable-next-line import/no-default-export -- rolldown looks for the default export.
export default defineConfig({
  input: { index: 'src/index.ts', cli: 'src/bin.ts' },
  platform: 'node',
  external: ['libsql', 'jiti', /^node:/],
  output: {
    dir: 'dist',
    format: 'esm',
    minify: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
    banner: "import { createRequire as $createRequire } from 'node:module';",
  },
});
