import { domainToASCII, domainToUnicode } from 'node:url';

/**
 * The other spelling of the host of a URL when it is an international name, to be shown beside it: letters of other scripts
 * look like Latin ones (A14, A42). `undefined` when there is only one.
 */
export function otherHostName(url: string): string | undefined {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?([^/?#:]+)/i.exec(url)?.[1];
  if (host === undefined) return undefined;
  const ascii = domainToASCII(host);
  const unicode = domainToUnicode(host);
  if (ascii === '' || ascii === unicode) return undefined;
  return host.toLowerCase() === ascii ? unicode : ascii;
}
