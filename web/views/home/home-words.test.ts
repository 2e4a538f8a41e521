import { describe, expect, it } from 'vitest';
import type { Attention, Overview } from '../../api/types.js';
import { actionLabel, callsNote, missingNote, placeOf, serversNote } from './home-words.js';

const none: Overview['servers'] = {
  total: 0,
  enabled: 0,
  ready: 0,
  stale: 0,
  learning: 0,
  failed: 0,
  unknown: 0,
  off: 0,
};
const action = { method: 'POST', path: '/v1/x' } as const;

describe('words of Home', () => {
  it.each([
    [{ total: 3, enabled: 3, ready: 2, stale: 1 }, 'all are known'],
    [{ total: 2, enabled: 2, ready: 1, failed: 1 }, '1 known, 1 failing'],
    [{ total: 2, enabled: 2, ready: 1, learning: 1 }, '1 known, 1 learning'],
    [{ total: 3, enabled: 2, ready: 1, off: 2 }, '1 known, 1 needs attention, 1 disabled'],
    [{ total: 2, enabled: 2, off: 2 }, '0 known, 2 need attention'],
  ])('STUDIO-1 says how the servers are: %j', (counts, text) => {
    expect(serversNote({ ...none, ...counts })).toBe(text);
  });

  it.each([
    [{}, {}, undefined],
    [{ disabled: 1 }, {}, '1 held back: see why'],
    [{}, { failed: 1 }, '1 server gives none: see why'],
    [{ pending: 1, quarantined: 1 }, { failed: 1, off: 1 }, '2 held back, 2 servers give none: see why'],
  ])('STUDIO-1 agents get every tool only where no tool is held back and no server is missing: %j %j', (...given) => {
    const [tools, servers, text] = given;
    expect(missingNote({ disabled: 0, pending: 0, quarantined: 0, ...tools }, { ...none, ...servers })).toBe(text);
  });

  it('STUDIO-1 says how the calls ended', () => {
    expect([callsNote(0, 0), callsNote(2, 0), callsNote(2000, 1234)]).toEqual([
      'none yet',
      'none failed',
      '1,234 did not succeed',
    ]);
    expect([callsNote(3, 0, 1), callsNote(9, 2, 1200)]).toEqual([
      'none failed, 1 needed a yes',
      '2 did not succeed, 1,200 needed a yes',
    ]);
  });

  it.each([
    ['approval', { server: 'a', ref: 'a:b' }, undefined, '#/approvals/a%3Ab', 'Look at it'],
    ['approval', { server: 'a' }, undefined, '#/approvals', 'Look at it'],
    ['pending-call', { server: 'a', ref: 'p1' }, undefined, '#/approvals', 'See the calls'],
    ['server-failed', { server: 'a' }, 'Try again', '#/servers/a', 'Open the server'],
    ['server-resting', { server: 'a' }, 'Connect now', '#/servers/a', 'Open the server'],
    ['sign-in', { server: 'a' }, 'Sign in', '#/servers/a', 'Open the server'],
    ['config-rejected', {}, 'Read it again', '#/config', 'Open the config'],
    ['source-kept', {}, 'Read it again', '#/config', 'Open the config'],
    ['config', { title: 'Config: limits' }, 'Read it again', '#/config', 'Open the config'],
    ['config', { title: 'Config: toolRules[2]' }, 'Read it again', '#/rules', 'Open the rules'],
    ['store', {}, 'Accept the store', undefined, undefined],
  ] as const)('STUDIO-1 offers what mends it, or where to look first: %s %j', (kind, about, label, href, place) => {
    const item: Pick<Attention, 'kind' | 'server' | 'ref' | 'title' | 'action'> = { kind, title: '', ...about };
    expect(actionLabel({ ...item, action })).toBe(label);
    expect(actionLabel(item)).toBeUndefined();
    expect(placeOf(item)).toEqual(href === undefined ? undefined : { href, label: place });
  });
});
