import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createEventMemory } from './event-memory.js';

const note = (text: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: 'notifications/x', params: { text } });

async function replay(memory: ReturnType<typeof createEventMemory>, last: string): Promise<unknown[]> {
  const sent: unknown[] = [];
  await memory.replayEventsAfter(last, { send: async (_id, message) => void sent.push(message) });
  return sent;
}

describe('the events of a session', () => {
  it('EXEC-4 what a host missed is told again, on its stream and in order', async () => {
    const memory = createEventMemory();
    const first = await memory.storeEvent('a', {} as JSONRPCMessage);
    await memory.storeEvent('b', note('other'));
    await memory.storeEvent('a', note('one'));
    const second = await memory.storeEvent('a', note('two'));
    expect(await replay(memory, first)).toEqual([note('one'), note('two')]);
    expect(await replay(memory, second)).toEqual([]);
    expect(await memory.getStreamIdForEventId?.(second)).toBe('a');
    expect(await replay(memory, 'unknown')).toEqual([]);
    expect(await memory.getStreamIdForEventId?.('__proto__')).toBeUndefined();
  });

  it('A28 what is kept is bounded in number and size', async () => {
    const memory = createEventMemory();
    const first = await memory.storeEvent('a', note('first'));
    for (let at = 0; at < 300; at++) await memory.storeEvent('a', note(String(at)));
    expect(await replay(memory, first)).toEqual([]);
    const here = await memory.storeEvent('a', note('here'));
    await memory.storeEvent('a', note('x'.repeat(300_000)));
    await memory.storeEvent('a', note('after'));
    expect(await replay(memory, here)).toEqual([note('after')]);
    for (let at = 0; at < 10; at++) await memory.storeEvent('a', note('y'.repeat(100_000)));
    expect(await replay(memory, here)).toEqual([]);
  });
});
