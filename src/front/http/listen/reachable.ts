import { networkInterfaces } from 'node:os';

/** Addresses that mean "every interface": a browser cannot open them. */
const WILDCARDS = new Set(['0.0.0.0', '::', '']);

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

/** The interfaces of this machine; none where a sandbox does not let them be read. */
function interfacesOf(): ReturnType<typeof networkInterfaces> {
  try {
    return networkInterfaces();
  } catch (thrown) {
    if (thrown instanceof Error) return {};
    throw thrown;
  }
}

/** Addresses of this machine that others can reach; link-local ones need a zone that no URL can carry. */
function ownAddresses(wildcard: string): string[] {
  return Object.values(interfacesOf())
    .flatMap((interfaces) => interfaces ?? [])
    .filter(({ internal, address, family }) => {
      const isReached = wildcard !== '0.0.0.0' || family === 'IPv4';
      return !internal && isReached && !/^fe[89ab]/i.test(address);
    })
    .map(({ address }) => address);
}

/**
 * Names under which a listener on this address is reached besides those of loopback. They are literal addresses, which a page
 * that rebinds its own name cannot send as `Host`.
 */
export function hostsOf(host: string, own = ownAddresses): string[] {
  const plain = host.replace(/^\[(.*)\]$/, '$1');
  return (WILDCARDS.has(plain) ? own(plain) : [plain]).map(bracketed);
}

/** The addresses under which a listener can be opened, the best one first. */
export function urlsOf(
  { host, port, publicUrl }: { readonly host: string; readonly port: number; readonly publicUrl?: string },
  own = ownAddresses,
): string[] {
  const plain = host.replace(/^\[(.*)\]$/, '$1');
  const hosts = WILDCARDS.has(plain) ? ['127.0.0.1', ...hostsOf(host, own)] : [bracketed(plain)];
  return [
    ...(publicUrl === undefined ? [] : [publicUrl.replace(/\/+$/, '')]),
    ...hosts.map((each) => `http://${each}:${port}`),
  ];
}
