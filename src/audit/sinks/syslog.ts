import { createSocket } from 'node:dgram';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock, Timer } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { AuditFormat } from '../../model/audit-export.js';
import type { AuditRecord } from '../../model/audit-record.js';
import { formatRecord } from '../export/formats.js';
import type { AuditSink } from '../export/delivery.js';
import { isoTime } from '../export/iso-time.js';
import { shortened } from '../export/stand-in.js';

/** What a syslog sink needs. */
export interface SyslogOptions {
  /** `udp://`, `tcp://` or `tls://` with host and port. */
  readonly url: string;
  readonly format: AuditFormat;
  /** The name of this machine. */
  readonly hostname: string;
  readonly clock: Clock;
  /** Certificates that are trusted besides those of Node.js. */
  readonly ca?: string;
}

const TIMEOUT_MS = 10_000;
/** How long the other side may take to end the connection, or to refuse it. */
const LINGER_MS = 3000;
/** "log audit" of RFC 5424. */
const FACILITY = 13;
const SEVERITY: Readonly<Record<AuditRecord['outcome'], number>> = {
  success: 6,
  failure: 4,
  refused: 4,
  waiting: 5,
};
/** Bytes of one message: no datagram has more than 65,507, and receivers on streams end the connection at 65,536 or so. */
const MAX_MESSAGE = 60_000;

/** A record as a message of RFC 5424. */
export function syslogMessage(record: AuditRecord, format: AuditFormat, hostname: string): string {
  const name = (text: string, most: number): string => text.replaceAll(/[^\u0021-\u007e]/g, '').slice(0, most) || '-';
  const priority = FACILITY * 8 + (SEVERITY[record.outcome] ?? SEVERITY.failure);
  const head = `<${priority}>1 ${isoTime(record.time)} ${name(hostname, 255)} toolscout - ${name(record.kind, 32)} -`;
  return `${head} \uFEFF${formatRecord(record, format)}`;
}

/**
 * A sink that sends records to a syslog server. Over TCP and TLS messages are framed by their length (RFC 6587, RFC 5425), and a portion
 * counts as delivered when the other side has taken all of it and the connection has ended in order. Datagrams are sent and not confirmed. A record that
 * is too long for one message is shortened, so that a message is never cut in the middle.
 */
export function createSyslog(options: SyslogOptions): AuditSink {
  const { format, hostname, clock, ca } = options;
  const { protocol, host, port } = split(options.url);
  return {
    async send(records) {
      const encode = (record: AuditRecord): Buffer => Buffer.from(syslogMessage(record, format, hostname));
      if (protocol === 'udp') return sendDatagrams(records, encode, host, port);
      const messages = records.map((record) => fitting(record, encode));
      const open = (): Socket =>
        protocol === 'tls'
          ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }), ...(ca && { ca }) })
          : connect({ host, port });
      const framed = messages.flatMap((message) => [Buffer.from(`${message.length} `), message]);
      return sendStream(open, Buffer.concat(framed), clock);
    },
  };
}

function split(url: string): { readonly protocol: string; readonly host: string; readonly port: number } {
  const [, protocol = '', host = '', port = ''] = /^(\w+):\/\/(.+):(\d+)$/.exec(url) ?? [];
  return { protocol, host: host.replaceAll(/^\[|\]$/g, ''), port: Number(port) };
}

function sendStream(open: () => Socket, bytes: Buffer, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = open();
    let limit = clock.after(TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')), { awaited: true });
    const restart = (timer: Timer, act: () => void): Timer => {
      timer.cancel();
      return clock.after(LINGER_MS, act, { awaited: true });
    };
    let failure: Error | undefined;
    socket.on('error', (error) => (failure = error));
    socket.on('close', () => {
      limit.cancel();
      if (failure) reject(failure);
      else if (!socket.writableFinished) reject(new Error('the connection ended before everything was sent'));
      else resolve();
    });
    socket.resume();
    // Some never end their side: what they have not refused by then counts as taken.
    socket.on('finish', () => (limit = restart(limit, () => socket.destroy())));
    socket.end(bytes);
  });
}

type Encode = (record: AuditRecord) => Buffer;

function fitting(record: AuditRecord, encode: Encode): Buffer {
  const whole = encode(record);
  return whole.length <= MAX_MESSAGE ? whole : encode(shortened(record));
}

const isTooLong = (thrown: unknown): boolean => (thrown as { code?: unknown } | undefined)?.code === 'EMSGSIZE';

/**
 * Sends records as datagrams, shortened where they are longer than the system takes.
 *
 * @throws ToolscoutError `PAYLOAD_TOO_LARGE`, as a refusal of the record, when that is too long as well
 */
export async function sendEach(
  records: readonly AuditRecord[],
  encode: Encode,
  send: (message: Buffer) => Promise<void>,
): Promise<void> {
  for (const record of records) {
    try {
      await send(fitting(record, encode));
    } catch (thrown) {
      if (!isTooLong(thrown)) throw thrown;
      await send(encode(shortened(record))).catch((again: unknown) => {
        if (!isTooLong(again)) throw again;
        const message =
          'The audit record is too long for one syslog datagram, even shortened, and was not sent. A tcp:// or tls:// url has no such limit.';
        throw new ToolscoutError('PAYLOAD_TOO_LARGE', message, { refusal: { status: 413 }, cause: again });
      });
    }
  }
}

async function sendDatagrams(
  records: readonly AuditRecord[],
  encode: Encode,
  host: string,
  port: number,
): Promise<void> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const send = (message: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      socket.send(message, port, host, (error) => (error ? reject(error) : resolve()));
    });
  try {
    await sendEach(records, encode, send);
  } finally {
    socket.close();
  }
}
