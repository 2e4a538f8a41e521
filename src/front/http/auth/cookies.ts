import type { RequestHead } from '../../../net/http-message.js';

/** How a cookie is set. All of ours are closed to scripts. */
export interface CookieOptions {
  readonly isSecure: boolean;
  readonly maxAgeSeconds: number;
  /** `Lax` only for what must come along when another site leads back here. */
  readonly sameSite?: 'Strict' | 'Lax';
}

/**
 * The name of a cookie at an address. Cookies do not know ports, so that two toolscouts on one machine would take each other's; over
 * https a browser keeps one with this prefix for exactly this host.
 */
export function cookieName(what: string, baseUrl: string): string {
  const { protocol, port } = new URL(baseUrl);
  return `${protocol === 'https:' ? '__Host-' : ''}toolscout_${what}${port === '' ? '' : `_${port}`}`;
}

/** `Set-Cookie` for a value. */
export function writeCookie(name: string, value: string, options: CookieOptions): string {
  const { isSecure, maxAgeSeconds, sameSite = 'Strict' } = options;
  const parts = [`${name}=${value}`, 'HttpOnly', `SameSite=${sameSite}`, 'Path=/', `Max-Age=${maxAgeSeconds}`];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/** The value of a cookie; one that comes twice is ignored, since another site may have set one of the two. */
export function readCookie({ headers }: Pick<RequestHead, 'headers'>, name: string): string | undefined {
  const values = (headers.get('cookie') ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}
