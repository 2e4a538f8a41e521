import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));
/** The toolscout that a page in development speaks to. */
const api = process.env['STUDIO_API'] ?? 'http://127.0.0.1:7077';

// oxlint-disable-next-line import/no-default-export -- vite looks for the default export.
export default defineConfig({
  root,
  // The page is served at `/`, what it loads at `/studio/`.
  base: '/studio/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/studio',
    emptyOutDir: true,
    assetsDir: '.',
    target: 'es2023',
    cssTarget: 'chrome123',
    // An asset in a data URL would need another rule of the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': api, '/health': api, '/openapi.json': api } },
});
