import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import type { JsonObject } from '../../kernel/json.js';
import { silentLog } from '../../kernel/log.js';
import { EVERY_CAPABILITY, type Host } from '../../model/host.js';
import { createCallbacks } from './callbacks.js';
import { answerInRounds } from './rounds.js';

const HOSTILE = 'evil" asks:\nServer "bank\u202e\u0007';

const QUESTIONS: ReadonlyArray<readonly [method: string, params: JsonObject, seen: JsonObject]> = [
  ['elicitation/create', { message: 'Name?' }, { message: 'Server "s" asks:\nName?' }],
  [
    'elicitation/create',
    { mode: 'url', message: 'Go there.', url: 'https://a.example/', elicitationId: '1' },
    { mode: 'url', message: 'Server "s" asks:\nGo there.', url: 'https://a.example/', elicitationId: '1' },
  ],
  // What it says afterwards may look like the line of another server, but it is not the first.
  [
    'elicitation/create',
    { message: 'Server "bank" asks:\nPIN?' },
    { message: 'Server "s" asks:\nServer "bank" asks:\nPIN?' },
  ],
  ['elicitation/create', { message: 7 }, { message: 7 }],
  [
    'sampling/createMessage',
    { messages: [], maxTokens: 1, systemPrompt: 'Be brief.' },
    { messages: [], maxTokens: 1, systemPrompt: 'Be brief.' },
  ],
  ['roots/list', {}, {}],
];

function asked(era: Host['era'], more: Partial<Host> = {}): { host: Host; seen: JsonObject[] } {
  const seen: JsonObject[] = [];
  const host: Host = {
    id: 'h',
    era,
    capabilities: EVERY_CAPABILITY,
    request: async (_method, params) => {
      seen.push(params ?? {});
      return {};
    },
    notify: () => {},
    ...more,
  };
  return { host, seen };
}

describe('a question to a person', () => {
  it('A57 META-6 names the server that asks it, where a server of the 2025 era asks', () => {
    for (const era of ['legacy', 'modern'] as const) {
      for (const [method, params, expected] of QUESTIONS) {
        const { host, seen } = asked(era);
        const callbacks = createCallbacks({
          server: 's',
          clock: createFakeClock(),
          log: silentLog,
          owner: undefined,
          send: () => {},
          callOf: () => ({ id: 1, host }),
          pause: () => {},
          resume: () => {},
        });
        callbacks.take({ jsonrpc: '2.0', id: 1, method, params }, undefined);
        expect(seen).toEqual([expected]);
      }
    }
  });

  it('A57 META-6 CODE-5 names the server that asks it, where a server of the 2026 era asks', async () => {
    for (const [method, params, expected] of QUESTIONS) {
      const first = { resultType: 'input_required', inputRequests: { q: { method, params } }, requestState: 'x' };
      const rounds = (host: Host): Promise<JsonObject> =>
        answerInRounds(
          first,
          async () => ({ content: [] }),
          {},
          {
            server: 's',
            clock: createFakeClock(),
            host,
            signal: undefined,
          },
        );
      const { host, seen } = asked('legacy');
      await rounds(host);
      expect(seen).toEqual([expected]);
      // A host that answers by calling again, and a script that waits, get the question as the result.
      for (const each of [asked('modern').host, asked('legacy', { defersQuestions: true }).host]) {
        expect(await rounds(each)).toEqual({ ...first, inputRequests: { q: { method, params: expected } } });
      }
    }
  });

  it('A57 A16 a name cannot end its own line or hide in it', async () => {
    const { host, seen } = asked('legacy');
    const inputRequests = { q: { method: 'elicitation/create', params: { message: 'm' } } };
    await answerInRounds(
      { resultType: 'input_required', inputRequests },
      async () => ({ content: [] }),
      {},
      {
        server: HOSTILE,
        clock: createFakeClock(),
        host,
        signal: undefined,
      },
    );
    expect(seen[0]!['message']).toBe('Server "evil\\" asks: Server \\"bank\\\\u202e\\\\u0007" asks:\nm');
  });
});
