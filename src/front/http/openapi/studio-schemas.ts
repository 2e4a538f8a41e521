import * as z from 'zod';
import { SCOPES } from '../../../model/principal.js';
import { ToolCounts } from './server-details-schema.js';

export { UpstreamSignIn } from './server-details-schema.js';

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);
const time = z.number().meta({ description: 'Milliseconds since 1970.' });

/** The page, as HTML. */
export const StudioPage = text.meta({ description: 'HTML, or a sentence that says how the page is made.' });

/** A file of the page. */
export const StudioFile = text.meta({ description: 'Script, style, image or font.' });

/** Who is signed in, and how one can be (STUDIO-6). */
export const SessionState = z.object({
  signedIn: z.boolean(),
  required: z.boolean().meta({ description: 'Whether a key or a session is needed at all.' }),
  principal: text.optional(),
  scopes: z.array(z.enum(SCOPES)),
  servers: texts
    .optional()
    .meta({ description: 'The only servers there are for this caller; all of them when absent.' }),
  mayAdminister: z.boolean().meta({ description: 'Whether requests that change something are answered.' }),
  csrf: text
    .optional()
    .meta({ description: 'To be sent as `X-Toolscout-Csrf` with every request that is not GET; only with a cookie.' }),
  until: time.optional(),
  methods: z.array(z.enum(['key', 'oauth'])),
  stateDir: text.optional().meta({
    description:
      'The folder of the state, where it is not the usual one and no key is needed: what commands need as `--state-dir`; `memory` where there is none.',
  }),
  config: text.optional().meta({
    description:
      'The config file, where a command in another folder would not find it and no key is needed: what commands need as `--config`.',
  }),
  demo: z.literal(true).optional().meta({ description: 'It serves the demo servers: commands need `--demo`.' }),
  sharesStore: z.boolean().optional().meta({ description: 'Whether the ticket `probe` is one of this store.' }),
});

/** A key of `http.auth`, or the code that `toolscout studio` opens the page with. */
export const SignInRequest = z.union([
  z.strictObject({ key: text.min(1).max(16_384), code: z.undefined().optional() }),
  z.strictObject({ code: text.min(1).max(200), key: z.undefined().optional() }),
]);

const Fix = z.object({
  method: z.literal('POST'),
  path: text,
  body: z.record(text, z.union([text, z.boolean()])).optional(),
});

/** How things stand, and what needs attention. */
export const Overview = z.object({
  empty: z.boolean().meta({ description: 'There is no server at all.' }),
  servers: z.object({
    total: count,
    enabled: count,
    ready: count,
    stale: count,
    learning: count,
    failed: count,
    unknown: count,
    off: count,
  }),
  tools: ToolCounts,
  tokens: z.object({
    now: count.meta({
      description: 'Menu and instructions that a host is given in the mode and with the admin tools of this process.',
    }),
    menu: count.meta({ description: 'Of `now`: the definitions of the tools, as in the audit record of a menu.' }),
    instructions: count.meta({ description: 'Of `now`: the instructions.' }),
    tools: count.meta({ description: 'How many tools the menu has.' }),
    adminTools: count.meta({ description: 'How many of them `serve --admin` adds.' }),
    everything: count.meta({ description: 'The definitions of all tools that are offered.' }),
  }),
  hours: z.array(z.object({ at: time, calls: count, failed: count, waiting: count })).meta({
    description:
      'The last 24 hours, oldest first. Calls that are `waiting` were not made yet, because a person was asked first.',
  }),
  attention: z.array(
    z.object({
      kind: z.enum([
        'store',
        'store-failing',
        'config',
        'config-pending',
        'config-rejected',
        'source-kept',
        'server-failed',
        'server-unusable',
        'server-resting',
        'sign-in',
        'approval',
        'pending-call',
      ]),
      severity: z.enum(['info', 'warning', 'severe']),
      title: text,
      detail: text,
      server: text.optional(),
      ref: text.optional(),
      expiresAt: time.optional().meta({ description: 'Until when a call that waits can be decided about.' }),
      remedy: text,
      action: Fix.optional().meta({ description: 'The request that mends it.' }),
    }),
  ),
});

/** A sign-in is begun without a body; `redirected` is the address at which a browser of another machine ended. */
export const UpstreamSignInRequest = z
  .strictObject({ redirected: text.min(1).max(8192).optional() })
  .optional()
  .meta({ description: 'Nothing, or where the browser ended.' });

/** What became of an action on a server. */
export const ServerActed = z.object({ server: text, state: z.enum(['connected', 'disconnected', 'error']) });

/** Traffic in the form of HAR: one entry for each request of a host, the whole row under `_row`. */
export const TrafficLog = z.object({
  log: z.object({
    version: text,
    creator: z.object({ name: text, version: text }),
    entries: z.array(z.looseObject({ startedDateTime: text, time: z.number(), _row: z.looseObject({ id: text }) })),
  }),
});

/** What an agent gets for a search, and what it pays for it. */
export const SearchPreview = z.object({
  content: z
    .array(z.object({ type: z.literal('text'), text }))
    .meta({ description: 'As a host gets it; `isError` says that it is a refusal.' }),
  isError: z.boolean().optional(),
  tokens: z
    .object({ arguments: count, returned: count })
    .meta({ description: 'About how many tokens the question and the answer are.' }),
});

/** Tools that agents do not get. */
export const HeldTools = z.object({
  total: count,
  tools: z
    .array(
      z.object({
        server: text,
        tool: text,
        status: z.enum(['enabled', 'disabled', 'pending', 'quarantined']),
        because: text.meta({ description: 'What decided, as in `GET /v1/why`.' }),
        reason: text,
      }),
    )
    .meta({ description: 'At most 200 of them.' }),
});
