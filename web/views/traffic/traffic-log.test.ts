import { describe, expect, it } from 'vitest';
import type { TrafficRow } from '../../api/types.js';
import {
  barOf,
  costOf,
  countNew,
  countText,
  createTrafficLog,
  emptyWords,
  gapBelow,
  gapText,
  partName,
  messageTitle,
  partMethod,
  pausedText,
  rowFacts,
  rowName,
  selectRows,
  tokensText,
  toolOf,
} from './traffic-log.js';

const row = (id: string, change: Partial<TrafficRow> = {}): TrafficRow => ({
  id,
  at: 0,
  principal: 'local',
  route: 'http',
  method: 'tools/call',
  servers: ['files'],
  state: 'success',
  tokens: { arguments: 1, returned: 2 },
  request: { json: '{"path":"Secret.txt"}', bytes: 20 },
  children: [],
  dropped: 0,
  ...change,
});

describe('the traffic log of the page', () => {
  it('STUDIO-3 keeps each row once, in its newest version, newest first, and not more than it may', () => {
    const log = createTrafficLog(3);
    for (const id of ['a', 'b', 'c', 'd']) log.add(row(id, { state: 'open' }));
    log.add(row('c', { ms: 5 }));
    expect(log.rows().map(({ id, state }) => `${id} ${state}`)).toEqual(['d open', 'c success', 'b open']);
    log.dropOpen();
    expect(log.rows().map(({ id }) => id)).toEqual(['c']);
    log.clear();
    expect(log.rows()).toEqual([]);
  });

  it('STUDIO-3 tells the wait for a connection from the request that follows', () => {
    const words = (part: { kind: 'upstream' | 'connect' | 'wait'; server: string; method: string }): string =>
      `${partName({ ...part, from: 'toolscout' })} ${partMethod(part)}`.trim();
    expect(words({ kind: 'connect', server: 'files', method: 'connect' })).toBe('files starting or reaching it');
    expect(words({ kind: 'upstream', server: 'files', method: 'tools/call' })).toBe('files tools/call');
    expect(words({ kind: 'wait', server: 'files', method: 'wait' })).toBe('wait');
  });

  it('STUDIO-3 finds what toolscout refused apart from what failed', () => {
    const rows = (['open', 'success', 'failure', 'refused'] as const).map((state) => row(state, { state }));
    for (const wanted of rows) expect(selectRows(rows, { text: '', state: wanted.state, sort: '' })).toEqual([wanted]);
  });

  it('STUDIO-3 the slowest request is the one that worked longest, without the wait for an answer', () => {
    const rows = [row('asked', { ms: 9000, askedMs: 8990 }), row('slow', { ms: 50 })];
    expect(selectRows(rows, { text: '', state: '', sort: 'slow' }).map(({ id }) => id)).toEqual(['slow', 'asked']);
  });

  it('STUDIO-3 holds no more after 10,000 events than after 1,000', () => {
    const log = createTrafficLog();
    for (let index = 0; index < 10_000; index += 1) log.add(row(String(index)));
    expect(log.rows()).toHaveLength(1000);
    expect(log.rows()[0]!.id).toBe('9999');
  });

  it('STUDIO-3 finds rows by what they say, by how they ended, and sorts them', () => {
    const rows = [
      row('a', { ms: 5 }),
      row('b', { ms: 50, state: 'failure', tokens: { arguments: 9, returned: 9 } }),
      row('c', { host: { name: 'Cursor', era: 'legacy' } }),
    ];
    const ids = (text: string, state: '' | TrafficRow['state'] = '', sort: '' | 'slow' | 'tokens' = ''): string =>
      selectRows(rows, { text, state, sort })
        .map(({ id }) => id)
        .join('');
    expect([
      ids(''),
      ids('secret'),
      ids('cursor'),
      ids('', 'failure'),
      ids('', '', 'slow'),
      ids('', '', 'tokens'),
      ids('nothing'),
    ]).toEqual(['abc', 'abc', 'c', 'b', 'bac', 'bac', '']);
    expect(costOf(rows[1]!)).toBe(18);
  });

  it('STUDIO-3 names the tool that a host ran, directly or through a meta-tool', () => {
    const meta = { json: '{"name":"execute_tool","arguments":{"server":"a","tool":"b"}}', bytes: 1 };
    expect([
      toolOf(row('1', { tool: 'x:y' })),
      toolOf(row('2', { name: 'a:b' })),
      toolOf(row('3', { name: 'execute_tool', request: meta })),
      toolOf(row('4', { name: 'search_tools' })),
      toolOf(row('5', { request: { json: '{"cut', bytes: 1, cut: true } })),
      toolOf(row('6', { method: 'tools/list' })),
    ]).toEqual(['x:y', 'a:b', 'a:b', undefined, undefined, undefined]);
  });

  it('STUDIO-3 says whose message a message is', () => {
    const title = (kind: string, method: string, isAnswer = false): string =>
      messageTitle({ kind: kind as 'upstream', from: 'server', server: 'files', method }, isAnswer);
    expect([title('upstream', 'tools/call'), title('upstream', 'tools/call', true)]).toEqual([
      'To files: tools/call',
      'Answer of files',
    ]);
    expect([title('callback', 'elicitation/create'), title('callback', 'x', true)]).toEqual([
      'Question of the server to the host: elicitation/create',
      'Answer of the host',
    ]);
    const own = { kind: 'callback', from: 'toolscout', method: 'elicitation/create' } as const;
    expect(messageTitle(own, false)).toBe('Question of toolscout to the host: elicitation/create');
    expect([partName(own), partName({ ...own, from: 'server' })]).toEqual(['confirmation', 'question']);
    expect([title('progress', 'progress'), title('notice', 'notifications/message')]).toEqual([
      'progress',
      'notice: notifications/message',
    ]);
  });

  it('STUDIO-3 tells an empty log from one in which nothing fits', () => {
    expect([emptyWords(0, false), emptyWords(0, true), emptyWords(3, true)].map(({ title }) => title)).toEqual([
      'Connecting',
      'Listening',
      'No request fits',
    ]);
    expect(emptyWords(3, false).text).toContain('Loosen');
  });

  it('STUDIO-3 says how many rows fit a filter, and how many came in while the list was paused', () => {
    expect([countText(7, 7), countText(1, 1), countText(2, 7)]).toEqual(['7 requests', '1 request', '2 of 7 requests']);
    expect(countNew([row('b'), row('a')], [row('d'), row('c'), row('b', { state: 'failure' })])).toBe(2);
    expect(pausedText(countNew([], []))).toBe('paused; what comes in is shown when you resume');
    expect(pausedText(2)).toBe('paused; 2 more came in');
  });

  it('STUDIO-3 marks the time in which nothing was recorded, between the rows beside it', () => {
    const log = createTrafficLog();
    log.stop(5);
    log.resume(10);
    // Before the first row nothing is missing from the list.
    expect(log.gaps()).toEqual([]);
    log.add(row('a', { at: 20 }));
    log.stop(30);
    log.stop(35);
    log.resume(40);
    log.add(row('b', { at: 50 }));
    log.add(row('c', { at: 60 }));
    expect(log.gaps()).toEqual([{ from: 30, until: 40 }]);
    const [c, b, a] = log.rows();
    expect([gapBelow(c!, b, log.gaps()), gapBelow(b!, a, log.gaps()), gapBelow(a!, undefined, log.gaps())]).toEqual([
      undefined,
      { from: 30, until: 40 },
      undefined,
    ]);
    expect(gapText(log.gaps()[0]!)).toMatch(/^not recorded below: \d+:\d+:\d+ to \d/);
    log.clear();
    expect(log.gaps()).toEqual([]);
  });

  it('STUDIO-3 what toolscout kept meanwhile closes the gap', () => {
    const log = createTrafficLog();
    log.add(row('a', { at: 20 }));
    log.stop(30);
    log.resume(100);
    // The last rows that were kept, oldest first: some are still missing.
    log.add(row('c', { at: 60 }));
    expect(log.gaps()).toEqual([{ from: 30, until: 60 }]);
    // Kept without a break: a row that is listed already comes again.
    log.add(row('a', { at: 20 }));
    expect(log.gaps()).toEqual([]);
  });

  it('STUDIO-3 a row does not repeat its name, and says its tokens in a sentence', () => {
    const list = row('1', { method: 'tools/list', host: { name: 'my-host', era: 'legacy' } });
    expect([rowName(list), rowFacts(list).replace(/^.*? · /, '')]).toEqual(['tools/list', 'my-host']);
    const read = row('2', { method: 'resources/read', name: 'file:///a' });
    expect([rowName(read), rowFacts(read)]).toEqual(['file:///a', expect.stringContaining('resources/read')]);
    expect(tokensText({ arguments: 25, returned: 12 })).toBe(
      '25 in the request and 12 in the answer, counted over the whole messages',
    );
  });

  it('STUDIO-3 places parts on the time axis, whatever the times are', () => {
    expect(barOf(50, 75, 100)).toEqual({ left: 50, width: 25 });
    expect(barOf(0, undefined, 0)).toEqual({ left: 0, width: 1.5 });
    expect(barOf(200, 300, 100)).toEqual({ left: 98.5, width: 1.5 });
  });
});
