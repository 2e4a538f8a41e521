import type { MiddlewareHandler } from 'hono';

/** Names under which a loopback listener may be addressed. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host.toLowerCase());
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}

/**
 * Refuses requests that a web page could send to this machine behind the user's back: a foreign
 * `Host` (DNS rebinding) or a foreign `Origin` (S1). Requests without an Origin are not from a page.
 */
export function guardOrigin(options: {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
}): MiddlewareHandler {
  const hosts = new Set([...LOOPBACK, ...options.hosts.map((host) => host.toLowerCase())]);
  const origins = new Set(options.origins.map((origin) => origin.toLowerCase()));
  const refuse = (what: string): Response =>
    Response.json({ error: 'FORBIDDEN', message: `This ${what} may not talk to toolscout.` }, { status: 403 });

  return async (context, next) => {
    const host = hostnameOf(`http://${context.req.header('host') ?? ''}`);
    if (host === undefined || !hosts.has(host)) return refuse('Host');
    const origin = context.req.header('origin');
    if (origin !== undefined && !origins.has(origin.toLowerCase()) && !hosts.has(hostnameOf(origin) ?? '')) {
      return refuse('Origin');
    }
    return next();
  };
}
