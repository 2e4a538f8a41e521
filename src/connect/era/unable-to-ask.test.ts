import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../../kernel/errors.js';
import { isUnableToAsk, otherEraNeeded } from './unable-to-ask.js';

const failed = (text: string) => ({ isError: true, content: [{ type: 'text', text }] });

const MODERN = [
  `Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create' cannot be sent while serving a request on that revision.`,
  `Method 'sampling/createMessage' is not supported by the negotiated protocol version (wire era 2026-07-28)`,
  `Error executing tool ask: Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.`,
  'elicitation via server-initiated requests is unavailable on 2026-07-28 connections.',
  'server-initiated sampling is not available on MCP 2026-07-28 connections; SEP-2577 removed it',
];
const LEGACY = [
  'Handler for tools/call returned an input-required result, but this request is served on protocol revision 2025-11-25, which has no input_required vocabulary',
  'InputRequiredResult requires negotiated protocol version 2026-07-28 or newer',
];

describe('a server that cannot ask in an era', () => {
  it('META-6 is recognised by what the SDKs say, as a result and as an error', () => {
    for (const [era, texts] of [['modern', MODERN] as const, ['legacy', LEGACY] as const]) {
      const other = era === 'modern' ? 'legacy' : 'modern';
      for (const text of texts) {
        const error = new ToolscoutError('TOOL_EXECUTION_ERROR', 'x', { upstream: { code: -32603, message: text } });
        for (const answer of [failed(text), error]) {
          expect([isUnableToAsk(answer, era), isUnableToAsk(answer, other)], text).toEqual([true, false]);
        }
        // What a tool found is no failure of its own, whatever it says.
        expect(isUnableToAsk({ content: [{ type: 'text', text }] }, era)).toBe(false);
      }
    }
    for (const answer of [failed('Method not found'), { isError: true }, undefined, new Error(MODERN[0])]) {
      expect(isUnableToAsk(answer, 'modern')).toBe(false);
    }
  });

  it('EXEC-4 fails the call with the advice to check and to call again', () => {
    const error = otherEraNeeded('one', failed(MODERN[0]!));
    expect(error).toMatchObject({ code: 'TOOL_EXECUTION_ERROR' });
    expect(error.delivered).toBeUndefined();
    expect(error.suggestion).toMatch(/^Check whether the call changed something, then make it again\.$/);
  });
});
