import * as z from 'zod';
import { ToolscoutError } from '../../../kernel/errors.js';
import { oneLine, printable } from '../../../kernel/text.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { Problem, StudioFile, StudioPage } from '../openapi/schemas.js';

/** The files of the page; `app/` hands them in. */
export interface StudioFiles {
  /** The bytes of a file of the built page; `undefined` when there is none of that name. */
  read(name: string): Promise<Uint8Array | undefined>;
}

/** What the page may load and run: its own files and nothing else, and never inside a frame (A17). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every file of the page. */
const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
};

/** A name with a hash of the content in it stands for that content for ever. */
const HASHED = /[-.][\w-]{8,}\.\w+$/;
const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';

const NOT_BUILT = 'Studio is not part of this installation. In a checkout of toolscout, run: npm run build\n';

/** Studio: the page at `/` and its files. They are the same for every caller and hold no data, so they need no key (STUDIO-1). */
export function studioRoutes(files: StudioFiles): Route[] {
  return [
    route({
      id: 'studio',
      group: 'studio',
      method: 'GET',
      path: '/',
      summary: 'Studio, the web page',
      responses: {
        200: { description: 'The page.', content: { 'text/html': StudioPage } },
        503: { description: 'The page was not built.', content: { 'text/plain': StudioPage } },
      },
      async handle({ reply }) {
        const headers = { ...PAGE_HEADERS, 'cache-control': ASK_AGAIN };
        const page = await files.read('index.html');
        if (!page) return reply(NOT_BUILT, { status: 503, type: 'text/plain; charset=utf-8', headers });
        return reply(page, { type: 'text/html; charset=utf-8', headers });
      },
    }),
    route({
      id: 'studioFile',
      group: 'studio',
      method: 'GET',
      path: '/studio/{file}',
      summary: 'A file of the web page',
      params: z.object({ file: z.string().max(200) }),
      responses: {
        200: {
          description: 'The file.',
          content: Object.fromEntries(Object.values(TYPES).map((type) => [type, StudioFile])),
        },
        404: { description: 'There is no such file.', content: { [PROBLEM_TYPE]: Problem } },
      },
      async handle({ params: { file }, reply }) {
        const type = TYPES[file.slice(file.lastIndexOf('.') + 1)];
        const content = type === undefined ? undefined : await files.read(file);
        if (content === undefined || type === undefined) {
          throw new ToolscoutError('NOT_FOUND', `Studio has no file "${oneLine(printable(file), 100)}".`, {
            suggestion: 'Load the page again: its files have changed.',
          });
        }
        const charset = type.startsWith('text/') ? `${type}; charset=utf-8` : type;
        const headers = { ...PAGE_HEADERS, 'cache-control': HASHED.test(file) ? FOR_EVER : ASK_AGAIN };
        return reply(content, { type: charset, headers });
      },
    }),
  ];
}
