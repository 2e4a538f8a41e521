import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/json.js';
import { createByteLines } from './byte-lines.js';
import { createRelay, STOPPING, type LinkEvents } from './relay.js';

/** A relay between a host and services that are played by the test. */
function between() {
  const told: JsonObject[] = [];
  const holds: boolean[] = [];
  const services: {
    readonly generation: number;
    readonly heard: JsonObject[];
    readonly events: LinkEvents;
    isClosed: boolean;
  }[] = [];
  let failure: Error | undefined;
  const link = (generation: number, events: LinkEvents) => {
    const service = { generation, heard: [] as JsonObject[], events, isClosed: false };
    services.push(service);
    return {
      write: (line: Buffer) => void service.heard.push(JSON.parse(line.toString()) as JsonObject),
      close: () => void (service.isClosed = true),
    };
  };
  const relay = createRelay({
    toHost: (line) => void told.push(JSON.parse(line.toString()) as JsonObject),
    hold: (isHeld) => void holds.push(isHeld),
    connect: async (generation, events) => {
      if (failure) throw failure;
      return link(generation, events);
    },
  });
  relay.begin((events) => link(0, events));
  const line = (message: JsonObject): Buffer => Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    relay,
    told,
    holds,
    services,
    say: (message: JsonObject) => relay.fromHost(line(message)),
    answer: (message: JsonObject, at = services.length - 1) => services[at]!.events.onLine(line(message)),
    lose: () => services.at(-1)!.events.onClose(),
    failWith: (error: Error) => void (failure = error),
  };
}

const open = async (relayed: ReturnType<typeof between>): Promise<void> => {
  relayed.say({ id: 0, method: 'initialize', params: { capabilities: {} } });
  relayed.answer({ id: 0, result: {} });
  relayed.say({ method: 'notifications/initialized' });
};

describe('the relay of a host', () => {
  it('STORE-6 repeats the handshake, the log level and the subscriptions to a new service, invisibly to the host', async () => {
    const relayed = between();
    await open(relayed);
    relayed.say({ id: 1, method: 'logging/setLevel', params: { level: 'info' } });
    relayed.answer({ id: 1, result: {} });
    for (const [id, uri] of [
      [2, 'a'],
      [3, 'b'],
    ] as const) {
      relayed.say({ id, method: 'resources/subscribe', params: { uri } });
      relayed.answer({ id, result: {} });
    }
    relayed.say({ id: 4, method: 'resources/unsubscribe', params: { uri: 'b' } });
    relayed.answer({ id: 4, result: {} });
    const before = relayed.told.length;
    relayed.lose();
    relayed.say({ id: 5, method: 'ping' });
    await turn();
    const [, next] = relayed.services;
    expect(next!.generation).toBe(1);
    expect(next!.heard.map(({ method }) => method)).toEqual(['initialize']);
    relayed.answer({ id: 0, result: {} });
    expect(next!.heard.slice(1).map(({ id, method }) => [id, method])).toEqual([
      [undefined, 'notifications/initialized'],
      [1, 'logging/setLevel'],
      [2, 'resources/subscribe'],
      [5, 'ping'],
    ]);
    for (const id of [1, 2]) relayed.answer({ id, result: {} });
    expect(relayed.told).toHaveLength(before);
    relayed.answer({ id: 5, result: {} });
    expect(relayed.told.at(-1)).toMatchObject({ id: 5 });
    expect(relayed.holds.at(-1)).toBe(false);
  });

  it('STORE-6 a lost tool call gets one typed error; what only reads is asked again, once', async () => {
    const relayed = between();
    await open(relayed);
    relayed.say({ id: 1, method: 'tools/call', params: {} });
    relayed.say({ id: 2, method: 'tools/list' });
    relayed.say({ id: 3, method: 'tools/call', params: {} });
    relayed.say({ method: 'notifications/cancelled', params: { requestId: 3 } });
    relayed.lose();
    await turn();
    expect(relayed.told.slice(1)).toMatchObject([{ id: 1, result: { isError: true } }]);
    relayed.answer({ id: 0, result: {} });
    expect(relayed.services[1]!.heard.at(-1)).toMatchObject({ id: 2, method: 'tools/list' });
    relayed.lose();
    expect(relayed.told.at(-1)).toMatchObject({ id: 2, error: { data: { code: 'SERVER_CONNECTION_ERROR' } } });
  });

  it('STORE-6 a host of the 2026 era needs no handshake, and what it listens to goes on with every service', async () => {
    const relayed = between();
    relayed.say({ id: 'l', method: 'subscriptions/listen' });
    relayed.say({ id: 1, method: 'tools/call', params: {} });
    for (const generation of [1, 2]) {
      relayed.lose();
      await turn();
      expect(relayed.services.at(-1)).toMatchObject({ generation, heard: [{ id: 'l' }] });
    }
    expect(relayed.told).toMatchObject([{ id: 1, result: { isError: true, resultType: 'complete' } }]);
  });

  it('STORE-6 withdraws the questions of a lost service and drops answers to them', async () => {
    const relayed = between();
    await open(relayed);
    relayed.answer({ id: 7, method: 'elicitation/create', params: {} });
    relayed.answer({ id: 8, method: 'roots/list' });
    relayed.say({ id: 8, result: { roots: [] } });
    expect(relayed.services[0]!.heard.at(-1)).toMatchObject({ id: 8 });
    relayed.lose();
    await turn();
    expect(relayed.told.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 7 } });
    relayed.answer({ id: 0, result: {} });
    relayed.say({ id: 7, result: { action: 'accept' } });
    expect(relayed.services[1]!.heard.map(({ id }) => id)).not.toContain(7);
  });

  it('STORE-6 a service that stops on purpose is replaced when its host needs one', async () => {
    const relayed = between();
    await open(relayed);
    relayed.answer({ method: STOPPING });
    relayed.lose();
    await turn();
    expect(relayed.services).toHaveLength(1);
    relayed.say({ id: 1, method: 'ping' });
    await turn();
    expect(relayed.services).toHaveLength(2);
    expect(relayed.told.map(({ method }) => method)).not.toContain(STOPPING);
  });

  it('STORE-6 what follows a notification is a turn later, in order, and is not lost with the service', async () => {
    const relayed = between();
    await open(relayed);
    relayed.say({ id: 1, method: 'tools/call' });
    relayed.answer({ method: 'notifications/progress', params: { progress: 1 } });
    relayed.answer({ method: 'notifications/progress', params: { progress: 2 } });
    relayed.answer({ id: 1, result: {} });
    expect(relayed.told).toHaveLength(2);
    await expect.poll(() => relayed.told.length).toBe(4);
    expect(relayed.told.map(({ id, method }) => id ?? method)).toEqual([
      0,
      'notifications/progress',
      'notifications/progress',
      1,
    ]);
    relayed.answer({ method: 'notifications/message' });
    relayed.answer({ method: 'notifications/message', params: { data: 'last' } });
    relayed.lose();
    expect(relayed.told.at(-1)).toMatchObject({ params: { data: 'last' } });
  });

  it('STORE-6 ends when no service is available, and closes one that comes after the host has gone', async () => {
    const relayed = between();
    await open(relayed);
    relayed.failWith(new Error('none'));
    relayed.lose();
    await expect(relayed.relay.ended).rejects.toThrow('none');

    const other = between();
    other.lose();
    other.relay.close();
    await turn();
    expect(other.services[1]!.isClosed).toBe(true);
    other.lose();
    const third = between();
    third.relay.close();
    third.lose();
    expect(third.services).toHaveLength(1);
    expect(third.services[0]!.isClosed).toBe(true);
  });

  it('STORE-6 lines that are not JSON-RPC are passed on, and late words of an old service are not', async () => {
    const relayed = between();
    relayed.relay.fromHost(Buffer.from('[]\n'));
    relayed.relay.fromHost(Buffer.from('"x"\n'));
    expect(relayed.services[0]!.heard).toEqual([[], 'x']);
    relayed.say({ method: 'notifications/cancelled', params: 'no object' as unknown as JsonObject });
    relayed.lose();
    await turn();
    relayed.answer({ method: 'notifications/message' }, 0);
    relayed.services[0]!.events.onClose();
    expect(relayed.told).toEqual([]);
    expect(relayed.services).toHaveLength(2);
  });
});

describe('lines as bytes', () => {
  it('STORE-6 are cut wherever chunks end, and refused when they are too long', () => {
    const lines: string[] = [];
    const marked: string[] = [];
    createByteLines(8, (line) => marked.push(line.toString())).take(Buffer.from('\ufeffa\nb\ufeff\n'));
    expect(marked).toEqual(['a\n', 'b\ufeff\n']);
    const reader = createByteLines(8, (line) => lines.push(line.toString()));
    expect(reader.take(Buffer.from('ab\ncd'))).toBe(true);
    expect(reader.take(Buffer.from('ef'))).toBe(true);
    expect(reader.take(Buffer.from('g\nh\n'))).toBe(true);
    expect(lines).toEqual(['ab\n', 'cdefg\n', 'h\n']);
    expect(reader.take(Buffer.from('123456789'))).toBe(false);
    expect(createByteLines(3, () => undefined).take(Buffer.from('1234\n'))).toBe(false);
  });
});
