import * as z from 'zod';

/**
 * A command that local servers are started through, so that they see less of this machine (A49): the server's own command and arguments
 * follow it. `{cwd}` is the folder the server runs in; an item `{env}` becomes `-e NAME` for each variable of the server. `false`: none.
 */
export const SandboxConfig = z.union([
  z.literal(false),
  z.strictObject({ command: z.array(z.string().min(1)).min(1).max(200) }),
]);
/** See the schema of the same name. */
export type SandboxConfig = z.infer<typeof SandboxConfig>;
