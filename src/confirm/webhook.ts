import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Cancel } from '../kernel/async/cancel.js';
import type { Clock } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import { isObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { ConfirmConfig } from '../model/confirm-config.js';
import type { PendingCall } from '../model/pending-call.js';
import { readBounded } from '../net/bounded-body.js';

/** What a webhook said. */
export interface WebhookAnswer {
  readonly verdict: 'approved' | 'rejected';
  readonly by: string;
  readonly reason?: string;
}

/** Asks a webhook about a call that waits; `undefined` when it leaves it to a person, or gave no answer that counts. It does not throw. */
export type AskWebhook = (
  pending: PendingCall,
  config: Pick<ConfirmConfig, 'webhook' | 'secret' | 'timeoutMs'>,
  signal: Cancel | undefined,
) => Promise<WebhookAnswer | undefined>;

const SIGNATURE = 'x-toolscout-signature';
const TIMESTAMP = 'x-toolscout-timestamp';
/** How far the clock of a webhook may be from ours. */
const MAX_SKEW_MS = 300_000;
const MAX_BYTES = 64 * 1024;
/** Characters of a name or a reason that are kept. */
const MAX_TEXT = 500;

/** The signature of a body: the time and the call it is about are part of it, so it holds for nothing else. */
export function signWebhook(secret: string, timestamp: string, id: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${id}.${body}`).digest('hex')}`;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined;
}

/** What an answer that is signed says. */
function readVerdict(body: string): WebhookAnswer | undefined {
  const said: unknown = JSON.parse(body);
  if (!isObject(said)) return undefined;
  const { decision } = said;
  if (decision !== 'approve' && decision !== 'reject') return undefined;
  const reason = textIn(said['reason']);
  return {
    verdict: decision === 'approve' ? 'approved' : 'rejected',
    by: textIn(said['by']) ?? 'webhook',
    ...(reason !== undefined && { reason }),
  };
}

/** Asks webhooks with signed requests, and believes only signed answers. */
export function createWebhook(deps: {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly log: Log;
}): AskWebhook {
  const { clock, log } = deps;
  return async (pending, { webhook, secret, timeoutMs }, signal) => {
    if (webhook === undefined || secret === undefined) return undefined;
    const { id } = pending;
    const body = JSON.stringify({ type: 'confirm', call: pending });
    const timestamp = String(clock.now());
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(signal?.reason);
    const limit = clock.after(timeoutMs, () => stop.abort(new Error('no answer in time')), { awaited: true });
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    const unusable = (problem: string): undefined => {
      log.warn('confirm.webhook', { id, problem });
      return undefined;
    };
    try {
      const headers = {
        'content-type': 'application/json',
        [TIMESTAMP]: timestamp,
        [SIGNATURE]: signWebhook(secret, timestamp, id, body),
      };
      const { fetch } = deps;
      const response = await fetch(webhook, { method: 'POST', headers, body, redirect: 'error', signal: stop.signal });
      const bytes = await readBounded(response, MAX_BYTES);
      if (!bytes) return unusable(`the answer has more than ${MAX_BYTES} bytes`);
      if (response.status === 202) return undefined;
      if (response.status !== 200) return unusable(`it answered with the status ${response.status}`);
      const text = Buffer.from(bytes).toString('utf8');
      const at = response.headers.get(TIMESTAMP) ?? '';
      if (!isSame(response.headers.get(SIGNATURE) ?? '', signWebhook(secret, at, id, text)))
        return unusable('the answer is not signed for this call');
      if (!(Math.abs(clock.now() - Number(at)) <= MAX_SKEW_MS))
        return unusable('the timestamp of the answer differs from the clock by more than five minutes');
      return readVerdict(text) ?? unusable('the answer says neither approve nor reject');
    } catch (thrown) {
      return unusable(messageOf(thrown));
    } finally {
      limit.cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  };
}
