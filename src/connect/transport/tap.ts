import type { Transport } from '@modelcontextprotocol/client';

/** Gets every message between toolscout and a server, line by line. */
export type Tap = (from: 'us' | 'server' | 'stdout' | 'stderr' | 'note', text: string) => void;

/** Hands every message of a transport to a tap; the transport itself is unchanged. */
export function tapTransport(transport: Transport, tap: Tap): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    tap('us', JSON.stringify(message));
    return send(message, options);
  };
  let listener = transport.onmessage;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => listener,
    set(next: Transport['onmessage']) {
      listener = next;
      if (!next) return;
      listener = (message, extra) => {
        tap('server', JSON.stringify(message));
        next(message, extra);
      };
    },
  });
}
