import { describe, expect, it } from 'vitest';
import { ago, contentText, progressBar, table } from './render.js';
import { createTerminal, type Streams, type Terminal } from './terminal.js';

function screen(options: Partial<{ tty: boolean; columns: number; plain: boolean }> = {}): {
  terminal: Terminal;
  out(): string;
  err(): string;
} {
  let out = '';
  let err = '';
  const streams: Streams = {
    stdout: { write: (text) => (out += text), isTTY: options.tty, columns: options.columns },
    stderr: { write: (text) => (err += text), isTTY: options.tty },
    plain: options.plain ?? false,
  };
  return { terminal: createTerminal(streams), out: () => out, err: () => err };
}

const ESC = '\u001b';
const HOSTILE = `${ESC}[2J${ESC}]8;;https://evil.example\u0007link\r\u202e`;
// oxlint-disable-next-line no-control-regex
const HARMLESS = /^[^\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$/;

describe('terminal', () => {
  it('CLI-1 results go to stdout, diagnostics to stderr, each as a line', () => {
    const { terminal, out, err } = screen();
    terminal.out('result');
    terminal.note('hint');
    expect(out()).toBe('result\n');
    expect(err()).toBe('hint\n');
  });

  it('CLI-1 colour only where a person looks, and never with NO_COLOR', () => {
    const paints = (options: Parameters<typeof screen>[0]): string =>
      Object.values(screen(options).terminal.paint)
        .map((paint: (text: string) => string) => paint('x'))
        .join('');
    expect(paints({ tty: true })).toContain(`${ESC}[31mx${ESC}[0m`);
    expect(paints({ tty: true, plain: true })).toBe('xxxxxx');
    expect(paints({ tty: false })).toBe('xxxxxx');
  });

  it('CLI-1 diagnostics that go to a file have no colour, even where results have', () => {
    let err = '';
    const { note, paint } = createTerminal({
      stdout: { write: () => true, isTTY: true },
      stderr: { write: (text) => (err += text), isTTY: false },
      plain: false,
    });
    note(`${paint.red('CODE')}: ${paint.bold('what')}`);
    expect(err).toBe('CODE: what\n');
  });

  it('CLI-1 a status line is replaced by what follows, and shown on a terminal only', () => {
    const piped = screen();
    piped.terminal.status('learning');
    piped.terminal.status('');
    expect(piped.err()).toBe('');

    const live = screen({ tty: true });
    live.terminal.status('one');
    live.terminal.status('two');
    live.terminal.out('result');
    live.terminal.note('hint');
    expect(live.err()).toBe(`one\r${ESC}[Ktwo\r${ESC}[Khint\n`);
    expect(live.out()).toBe('result\n');
    live.terminal.status('three');
    live.terminal.status('');
    expect(live.err().endsWith(`three\r${ESC}[K`)).toBe(true);
  });

  it('CLI-1 the width is that of the terminal, within reason', () => {
    expect(screen({ columns: 80 }).terminal.width).toBe(80);
    expect(screen({ columns: 10 }).terminal.width).toBe(40);
    expect(screen({ columns: 500 }).terminal.width).toBe(160);
    expect(screen().terminal.width).toBe(120);
  });
});

describe('table', () => {
  it('CLI-1 columns stand under their headings, the last one is cut to the terminal', () => {
    const { terminal } = screen({ columns: 40 });
    const text = table(
      terminal,
      ['A', 'LONGER', 'LAST'],
      [
        ['x', 'y', 'a very long text that does not fit into the rest of the line at all'],
        ['wide cell', '', 'short'],
      ],
    );
    const lines = text.split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toBe('A          LONGER  LAST');
    expect(lines[1]).toMatch(/^x {10}y {7}a very long.*…$/);
    expect(lines[1]!.length).toBeLessThanOrEqual(40);
    expect(lines[2]).toBe('wide cell          short');
  });

  it('CLI-1 a table without rows is its heading', () => {
    expect(table(screen().terminal, ['A', 'B'], [])).toBe('A  B');
  });

  it('A16 nothing in a cell reaches the terminal as a command, and a row stays a row', () => {
    const text = table(screen().terminal, ['NAME', 'TEXT'], [[HOSTILE, `${HOSTILE}\nnext line`]]);
    expect(text).toMatch(HARMLESS);
    expect(text.split('\n')).toHaveLength(2);
  });
});

describe('contentText', () => {
  it('CLI-1 each kind of content is shown as a person can read it', () => {
    const text = contentText({
      content: [
        { type: 'text', text: 'two\nlines' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'audio', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'file:///x' },
        { type: 'resource', resource: { uri: 'file:///y' } },
        'not an object',
      ],
    });
    expect(text.split('\n').slice(0, 5)).toEqual([
      'two',
      'lines',
      '[image image/png, 3 bytes; use --json to get it]',
      '[audio audio/wav, no data; use --json to get it]',
      '[link file:///x]',
    ]);
    expect(text).toContain('"file:///y"');
    expect(text.endsWith('"not an object"')).toBe(true);
  });

  it('CLI-1 structured content is shown when there is no other, and nothing when there is nothing', () => {
    expect(contentText({ content: [], structuredContent: { sum: 5 } })).toBe('{\n  "sum": 5\n}');
    expect(contentText({ structuredContent: [1] })).toBe('[\n  1\n]');
    expect(contentText({ content: [{ type: 'text', text: 'x' }], structuredContent: {} })).toBe('x');
    expect(contentText({})).toBe('');
    expect(contentText({ content: 'wrong' })).toBe('');
  });

  it('A16 A18 no content of any kind reaches the terminal as a command', () => {
    const text = contentText({
      content: [
        { type: 'text', text: HOSTILE },
        { type: 'image', data: 'A', mimeType: HOSTILE },
        { type: 'resource_link', uri: HOSTILE },
        { type: HOSTILE, [HOSTILE]: HOSTILE },
        HOSTILE,
      ],
    });
    expect(text).toMatch(HARMLESS);
    expect(contentText({ structuredContent: { [HOSTILE]: '\u009b31m\u202e' } })).toMatch(HARMLESS);
  });
});

describe('progressBar', () => {
  const steps = [
    { done: 1, total: 4, server: `one${ESC}[2J`, ok: true },
    { done: 2, total: 4, server: 'two', ok: false },
    { done: 4, total: 4, server: 'four', ok: true },
  ];

  it('DISC-3 CLI-1 shows progress and failures, and disappears at the end', () => {
    const { terminal, err } = screen({ tty: true });
    const bar = progressBar(terminal);
    bar(steps[0]!);
    expect(err()).toContain('██████░░░░░░░░░░░░░░░░░░ 1/4');
    expect(err()).toContain('one\\u001b[2J');
    bar(steps[1]!);
    expect(err()).toContain('2/4 failed: two');
    bar(steps[2]!);
    expect(err()).not.toContain('4/4');
    expect(err().endsWith(`\r${ESC}[K`)).toBe(true);
  });

  it('CLI-1 says nothing where no person looks', () => {
    const { terminal, out, err } = screen();
    for (const step of steps) progressBar(terminal)(step);
    expect(out() + err()).toBe('');
  });
});

describe('ago', () => {
  it.each([
    [-5, 'just now'],
    [999, 'just now'],
    [1000, '1 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_600_000, '1 h ago'],
    [86_400_000 * 3, '3 d ago'],
  ])('CLI-1 %d ms is "%s"', (ms, text) => {
    expect(ago(ms)).toBe(text);
  });
});
