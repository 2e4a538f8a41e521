import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createEventMemory, type EventMemory } from './event-memory.js';

const note = (text: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: 'notifications/x', params: { text } });

const missed = (memory: EventMemory, last: string): unknown[] | undefined =>
  memory.after(last)?.events.map(({ message }) => message);

describe('the events of a session', () => {
  it('EXEC-4 what a host missed is told again, on its stream and in order', () => {
    const memory = createEventMemory();
    const first = memory.store('a');
    memory.store('b', note('other'));
    memory.store('a', note('one'));
    const second = memory.store('a', note('two'));
    expect(missed(memory, first)).toEqual([note('one'), note('two')]);
    expect(missed(memory, second)).toEqual([]);
    expect(memory.after(second)?.stream).toBe('a');
    expect(memory.after('unknown')).toBeUndefined();
    expect(memory.after('__proto__')).toBeUndefined();
  });

  it('A28 what is kept is bounded in number and size', () => {
    const memory = createEventMemory();
    const first = memory.store('a', note('first'));
    for (let at = 0; at < 300; at++) memory.store('a', note(String(at)));
    expect(memory.after(first)).toBeUndefined();
    const here = memory.store('a', note('here'));
    memory.store('a', note('x'.repeat(300_000)));
    memory.store('a', note('after'));
    expect(missed(memory, here)).toEqual([note('after')]);
    for (let at = 0; at < 10; at++) memory.store('a', note('y'.repeat(100_000)));
    expect(memory.after(here)).toBeUndefined();
  });
});
