import { describe, expect, it } from 'vitest';
import { readBounded } from './bounded-body.js';

describe('readBounded', () => {
  it('A28 reads a body up to the limit, and nothing that is larger', async () => {
    expect(await readBounded(new Response('x'.repeat(10)), 10)).toHaveLength(10);
    expect(await readBounded(new Response('x'.repeat(11)), 10)).toBeUndefined();
    expect(await readBounded(new Response(null), 10)).toHaveLength(0);
  });

  it('A28 stops at the first byte too many, and reads nothing where the length is known to be too large', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent++;
        controller.enqueue(new Uint8Array(4));
      },
    });
    expect(await readBounded(new Response(endless), 10)).toBeUndefined();
    expect(sent).toBeLessThan(6);
    const announced = new Response('short', { headers: { 'content-length': '11' } });
    expect(await readBounded(announced, 10)).toBeUndefined();
    expect(announced.bodyUsed).toBe(false);
  });
});
