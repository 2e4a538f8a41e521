import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NodeRequest, PlainAnswer, ReceivedRequest, responseOf, type Received } from './http-message.js';

/** A server that hands every request to `answer`; the answer sends bytes to it and gives what comes back. */
async function serve(
  answer: (received: NodeRequest) => Promise<PlainAnswer>,
): Promise<(bytes: string, breakOff?: boolean) => Promise<string>> {
  const server = createServer((incoming, outgoing) => {
    const web = new Request(`http://127.0.0.1${incoming.url}`, { method: incoming.method });
    void answer(new NodeRequest({ incoming, outgoing }, () => web)).then((given) => given.writeTo(outgoing));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (bytes, breakOff = false) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.write(bytes, () => breakOff && socket.destroy());
    await once(socket, 'close');
    return text;
  };
}

const text = async (received: Received, most: number): Promise<string> => {
  const bytes = await received.bytes(most);
  return bytes ? Buffer.from(bytes).toString() : 'too much';
};

const plain = (body: string | null): PlainAnswer => new PlainAnswer(200, { 'content-type': 'text/plain' }, body);
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n';

describe('a request over a connection', () => {
  it('A10 S10 headers that were sent twice are joined, so that no part of toolscout sees one and another the other', async () => {
    const send = await serve(async ({ headers }) =>
      plain(JSON.stringify([headers.get('authorization'), headers.has('x-none'), headers.get('x-none')])),
    );
    const answer = await send(`${POST}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`);
    expect(answer).toContain('["Bearer a, Bearer b",false,null]');
  });

  it('A28 its body is read up to a bound, whether it says its length or not', async () => {
    const send = await serve(async (received) => plain(await text(received, 5)));
    const chunks = (...parts: string[]): string =>
      `${POST}Transfer-Encoding: chunked\r\n\r\n${parts.map((part) => `${part.length}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
    expect(await send(`${POST}Content-Length: 5\r\n\r\nhello`)).toMatch(/hello$/);
    expect(await send(chunks('he', 'llo'))).toMatch(/hello$/);
    expect(await send(`${POST}Content-Length: 6\r\n\r\nhello!`)).toMatch(/too much$/);
    expect(await send(chunks('hel', 'lo!'))).toMatch(/too much$/);
  });

  it('A29 a body that breaks off is an error, and reports that the client has gone', async () => {
    const seen: string[] = [];
    const send = await serve(async (received) => {
      received.onGone(() => seen.push('gone'));
      await received.bytes(100).catch((thrown: Error) => seen.push(thrown.message));
      return plain(null);
    });
    await send(`${POST}Content-Length: 50\r\n\r\nhello`, true);
    await expect.poll(() => seen.toSorted()).toEqual([expect.stringMatching(/aborted|broken off/), 'gone']);
  });
});

describe('a request of the web', () => {
  it('REG-10 is read in the same way', async () => {
    const gone = new AbortController();
    const web = new Request('http://a/b', { method: 'POST', body: 'hello', headers: { a: 'b' }, signal: gone.signal });
    const received = new ReceivedRequest(web);
    const seen: string[] = [];
    received.onGone(() => seen.push('first'));
    expect([received.method, received.url, received.headers.get('a')]).toEqual(['POST', 'http://a/b', 'b']);
    expect(await text(received, 5)).toBe('hello');
    gone.abort();
    received.onGone(() => seen.push('second'));
    expect(seen).toEqual(['first', 'second']);
  });
});

describe('a plain answer', () => {
  it('REG-10 can be used as a Response', async () => {
    const response = responseOf(new PlainAnswer(201, { 'x-a': 'b' }, 'made'));
    expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([201, 'b', 'made']);
    expect(responseOf(response)).toBe(response);
  });
});
