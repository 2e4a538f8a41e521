import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { createLog, silentLog, type Log, type LogLevel } from './log.js';

function recorder(level: LogLevel, mask?: (text: string) => string): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ level, write: (line) => lines.push(line), now: () => Date.UTC(2026, 0, 1), mask });
  return { log, lines };
}

describe('log', () => {
  it('A34 one event is one line of JSON, whatever stands in its fields', () => {
    fc.assert(
      fc.property(anyText(), fc.jsonValue(), (text, value) => {
        const { log, lines } = recorder('info');
        log.info('test.event', { text: `${text}\r\n\u2028\u001b[2J`, value });
        expect(lines).toHaveLength(1);
        // oxlint-disable-next-line no-control-regex
        expect(lines[0]).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\n$/);
        const read = JSON.parse(lines[0]!) as Record<string, unknown>;
        expect(read).toMatchObject({ time: '2026-01-01T00:00:00.000Z', level: 'info', event: 'test.event' });
        expect(read['text']).toBe(JSON.parse(JSON.stringify(`${text}\r\n\u2028\u001b[2J`)));
      }),
    );
  });

  it('A33 the whole line is masked, names and values of fields too', () => {
    const { log, lines } = recorder('debug', (text) => text.replaceAll('s3cret', '***'));
    log.warn('s3cret.event', { s3cret: 's3cret', nested: [{ deep: 'a s3cret b' }] });
    expect(lines.join('')).not.toContain('s3cret');
    expect(JSON.parse(lines[0]!)).toMatchObject({ nested: [{ deep: 'a *** b' }] });
  });

  it.each([
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
    ['silent', 0],
  ] as const)('CLI-1 level %s says %d of the four levels', (level, count) => {
    const { log, lines } = recorder(level);
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines).toHaveLength(count);
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(
      ['debug', 'info', 'warn', 'error'].slice(4 - count),
    );
  });

  it('CLI-1 lines that may wait are written together, in order; a warning takes them along at once, and so does a long wait', () => {
    const written: string[] = [];
    const tasks: Array<() => void> = [];
    const log = createLog({
      level: 'info',
      write: (lines) => written.push(lines),
      now: () => 0,
      later: (task) => tasks.push(task),
    });
    const events = (text = ''): string[] =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { event: string }).event);
    log.info('a');
    log.info('b');
    expect([written.length, tasks.length]).toEqual([0, 1]);
    tasks[0]!();
    expect(events(written[0])).toEqual(['a', 'b']);
    log.info('c');
    log.warn('d');
    expect(events(written[1])).toEqual(['c', 'd']);
    tasks[1]!();
    expect(written).toHaveLength(2);
    for (let lines = 0; lines < 100; lines++) log.info('long', { text: 'x'.repeat(1000) });
    expect(written).toHaveLength(3);
  });

  it('CLI-1 the silent log takes everything and says nothing', () => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) expect(silentLog[level]('x', {})).toBeUndefined();
  });
});
