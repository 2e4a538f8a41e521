import { createHmac } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { AuditFormat } from '../../model/audit-export.js';
import { formatRecord } from '../export/formats.js';
import type { AuditSink } from '../export/delivery.js';

/** What a webhook needs. */
export interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  readonly format: AuditFormat;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

const TIMEOUT_MS = 10_000;

/** The signature of a delivery: HMAC-SHA-256 over its time and its body, so that neither can be changed nor sent again later. */
export function signDelivery(secret: string, time: number, body: string): string {
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}

/** A sink that posts records as lines. An answer of 2xx is a delivery; another is a failure, with its status as the refusal. */
export function createWebhook({ url, secret, format, fetch: send, clock }: WebhookOptions): AuditSink {
  return {
    async send(records, delivery) {
      const body = records.map((record) => `${formatRecord(record, format)}\n`).join('');
      const time = Math.floor(clock.now() / 1000);
      const stop = new AbortController();
      const limit = clock.after(TIMEOUT_MS, () => stop.abort(new Error('no answer in time')), { awaited: true });
      try {
        const answer = await send(url, {
          method: 'POST',
          headers: {
            'content-type': format === 'cef' ? 'text/plain; charset=utf-8' : 'application/x-ndjson',
            'toolscout-delivery': delivery,
            'toolscout-signature': signDelivery(secret, time, body),
          },
          body,
          redirect: 'error',
          signal: stop.signal,
        });
        await answer.body?.cancel();
        if (!answer.ok)
          throw new ToolscoutError(
            'SERVER_CONNECTION_ERROR',
            `The webhook answered with HTTP ${answer.status}, not with 2xx.`,
            { refusal: { status: answer.status } },
          );
      } finally {
        limit.cancel();
      }
    },
  };
}
