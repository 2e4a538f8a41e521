import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { openProcessLog } from './process-log.js';

type Streams = Parameters<typeof openProcessLog>[0];

function open(level: 'silent' | 'info'): {
  process: EventEmitter;
  written: string[];
  log: ReturnType<typeof openProcessLog>;
} {
  const written: string[] = [];
  const stderr = { write: (lines: string) => written.push(lines) };
  const process = Object.assign(new EventEmitter(), { stderr });
  const mask = { hideEncoded: (text: string) => text.replaceAll('s3cret', '***') };
  const redact = (fields: Record<string, unknown>): Record<string, unknown> => ({ ...fields, token: undefined });
  return { process, written, log: openProcessLog(process as unknown as Streams, level, { mask, redact }) };
}

describe('the log of a process', () => {
  it('CLI-1 A33 is written a moment later, masked and redacted, and leaves no listener behind', async () => {
    const { process, written, log } = open('info');
    log.info('one', { text: 's3cret', token: 'x' });
    log.info('two');
    expect([written.length, process.listenerCount('exit')]).toEqual([0, 1]);
    await expect.poll(() => written.length).toBe(1);
    expect(written[0]).toMatch(/^\{.*"event":"one","text":"\*\*\*"\}\n\{.*"event":"two"\}\n$/);
    expect(process.listenerCount('exit')).toBe(0);
  });

  it('CLI-1 what waits is written when the process ends', () => {
    const { process, written, log } = open('info');
    log.info('last');
    process.emit('exit');
    expect(written.join('')).toContain('"event":"last"');
  });

  it('CLI-1 a silent one says nothing', () => {
    const { process, written, log } = open('silent');
    log.error('any');
    process.emit('exit');
    expect(written).toEqual([]);
  });
});
