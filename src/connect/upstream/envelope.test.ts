import { describe, expect, it } from 'vitest';
import { withEnvelope } from './envelope.js';

const legacy = { envelope: undefined, progress: true, host: undefined };

describe('withEnvelope', () => {
  it('EXEC-1 adds a progress token to a plain call and leaves the caller his own params', () => {
    const params = { name: 'echo', arguments: { message: 'hi' } };
    expect(withEnvelope({ method: 'tools/call', params, id: 7 }, legacy)).toEqual({
      ...params,
      _meta: { progressToken: 7 },
    });
    expect(params).not.toHaveProperty('_meta');
  });

  it.each([
    { name: 'echo' },
    { name: 'echo', task: {} },
    { uri: 'a:b', arguments: {} },
    { name: 'echo', arguments: {}, requestState: 's' },
    { name: 'echo', arguments: {}, inputResponses: { a: {} }, requestState: 's' },
  ])('EXEC-1 keeps whatever a request says besides: %j', (params) => {
    expect(withEnvelope({ method: 'tools/call', params, id: 7 }, legacy)).toEqual({
      ...params,
      _meta: { progressToken: 7 },
    });
  });

  it('EXEC-1 replaces a token of the host, which means nothing to the server, and keeps the rest of its _meta', () => {
    const params = { name: 'echo', arguments: {}, _meta: { progressToken: 'host', traceparent: 't' } };
    expect(withEnvelope({ method: 'tools/call', params, id: 7 }, legacy)).toEqual({
      name: 'echo',
      arguments: {},
      _meta: { progressToken: 7, traceparent: 't' },
    });
  });
});
