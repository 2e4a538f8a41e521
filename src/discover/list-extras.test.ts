import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Upstream } from '../model/upstream.js';
import { listBesides } from './list-extras.js';

/** A server that answers each method by what `answers` says; an error is thrown. */
function upstreamOf(answers: Readonly<Record<string, JsonObject | Error>>): Upstream {
  return {
    server: 's',
    era: 'legacy',
    closed: false,
    capabilities: { resources: {}, prompts: {} },
    async request(method: string) {
      const answer =
        answers[method] ?? new ToolscoutError('TOOL_EXECUTION_ERROR', 'no', { upstream: { code: -32601 } });
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as Upstream;
}

describe('what a server has besides tools', () => {
  it('DISC-1 an entry that is dropped, and a list that was cut off, are reported with the method', async () => {
    const told: unknown[] = [];
    const upstream = upstreamOf({
      'resources/list': { resources: [{ uri: 'a:1' }, { name: 'without' }, { uri: 'a:2' }] },
      'resources/templates/list': { resourceTemplates: [] },
      'prompts/list': { prompts: [{ name: 'one' }], nextCursor: 7 as never },
    });
    const found = await listBesides(upstream, {
      onDropped: (method, bad) => told.push([method, bad.index, bad.reason]),
      onFailed: (method, reason) => told.push([method, reason]),
    });
    expect(found.resources).toEqual([{ uri: 'a:1' }, { uri: 'a:2' }]);
    expect(found.prompts).toEqual([{ name: 'one' }]);
    expect(told).toEqual([
      ['resources/list', 1, 'it has no uri'],
      ['prompts/list', 'page 1 ended with an invalid cursor'],
    ]);
  });

  it('DISC-1 CONN-7 a list that is refused is empty, and the others are still asked for', async () => {
    const failed: string[] = [];
    const patient: string[] = [];
    const busy = new ToolscoutError('RATE_LIMITED', 'busy');
    const upstream = upstreamOf({ 'resources/list': busy, 'prompts/list': { prompts: [{ name: 'one' }] } });
    const found = await listBesides(upstream, {
      onFailed: (method) => failed.push(method),
      retry: async (task) => {
        patient.push('tried');
        return task();
      },
    });
    expect(found).toEqual({ resources: [], resourceTemplates: [], prompts: [{ name: 'one' }] });
    expect(failed).toEqual(['resources/list']);
    // A server that timed out once is not waited for again.
    expect(patient).toHaveLength(1);
  });

  it('EXEC-4 a connection that is lost meanwhile fails the whole, not one list', async () => {
    const lost = new ToolscoutError('SERVER_CONNECTION_ERROR', 'lost');
    const upstream = { ...upstreamOf({ 'resources/list': lost }), closed: true };
    await expect(listBesides(upstream, {})).rejects.toBe(lost);
  });
});
