import { describe, expect, it } from 'vitest';
import { createEmitter } from './emitter.js';

describe('emitter', () => {
  it('CONN-5 listeners get every event in order until they are removed', () => {
    const emitter = createEmitter<number>();
    const heard: string[] = [];
    const stopFirst = emitter.on((event) => heard.push(`first ${event}`));
    emitter.on((event) => heard.push(`second ${event}`));
    emitter.emit(1);
    stopFirst();
    stopFirst();
    emitter.emit(2);
    expect(heard).toEqual(['first 1', 'second 1', 'second 2']);
  });

  it('R3 a listener that throws is reported and does not affect the others', () => {
    const reported: unknown[] = [];
    const emitter = createEmitter<string>((thrown) => reported.push(thrown));
    const heard: string[] = [];
    const boom = new Error('boom');
    emitter.on(() => {
      throw boom;
    });
    emitter.on((event) => heard.push(event));
    expect(() => emitter.emit('x')).not.toThrow();
    expect(heard).toEqual(['x']);
    expect(reported).toEqual([boom]);
  });

  it('R3 contains a throwing listener without a reporter', () => {
    const emitter = createEmitter<string>();
    emitter.on(() => {
      throw new Error('boom');
    });
    expect(() => emitter.emit('x')).not.toThrow();
  });

  it('CONN-5 a listener may remove itself while it is called', () => {
    const emitter = createEmitter<number>();
    const heard: number[] = [];
    const stop = emitter.on((event) => {
      heard.push(event);
      stop();
    });
    emitter.emit(1);
    emitter.emit(2);
    expect(heard).toEqual([1]);
  });
});
