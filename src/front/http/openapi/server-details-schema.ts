import * as z from 'zod';

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);
const time = z.number().meta({ description: 'Milliseconds since 1970.' });

/** How many tools there are, by status. */
export const ToolCounts = z.object({
  total: count,
  enabled: count,
  disabled: count,
  pending: count,
  quarantined: count,
});

/** The state of the sign-in to a remote server. */
export const UpstreamSignIn = z.object({
  server: text,
  state: z.enum(['signed-in', 'expired', 'signed-out', 'configured', 'unusable', 'local']),
  problem: text.optional(),
  issuer: text.optional(),
  resource: text.optional(),
  scopes: texts.optional(),
  missingScopes: texts.optional(),
  expiresAt: time.optional(),
  renewable: z.boolean().optional(),
  url: text.optional().meta({ description: 'A sign-in that waits for a browser: the address to open.' }),
  failed: text.optional().meta({ description: 'Why the last sign-in that was begun here failed.' }),
});

const Latency = z.object({ at: time, ms: z.number(), ok: z.boolean(), by: z.enum(['check', 'call']) });

/** What `GET /v1/servers/{id}` tells besides the view of the server. */
export const serverDetails = {
  cwd: text.optional().meta({ description: 'Only for the scope `admin`.' }),
  instructions: text.optional(),
  info: z.looseObject({}).optional().meta({ description: 'What the server calls itself.' }),
  latency: z.array(Latency).meta({ description: 'Health checks and calls, oldest first.' }),
  lastError: z.object({ at: time.optional(), code: text, message: text, remedy: text }).optional(),
  stderr: text.meta({ description: 'The end of what a local server wrote to stderr; only for the scope `admin`.' }),
  signIn: UpstreamSignIn.optional(),
  toolCounts: ToolCounts,
};
