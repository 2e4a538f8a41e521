import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tool } from '../model/tool.js';
import { inferCategories, inferDomains } from '../normalize/index.js';
import { isCapability, toolsServing } from './capability.js';
import { covers, deriveCapabilities, negotiate, type OfferingServer, type ServerCondition } from './negotiate.js';
import { repetitions } from '../../test/support/long-form.js';

const toolOf = (server: string, name: string, tags: string[] = []): Tool =>
  ({ server, name, tags, domains: inferDomains(server, name), categories: inferCategories(name) }) as unknown as Tool;

function server(
  id: string,
  tools: string[] | undefined,
  declared: string[] = [],
  probed: string[] = [],
): OfferingServer {
  const made = tools?.map((name) => toolOf(id, name));
  return { id, declared, probed, tools: made, derived: deriveCapabilities(made ?? []) };
}

const asking = (...names: string[]) => ({ capabilities: names.map((name, i) => ({ name, line: i + 1 })) });
const fine = (): ServerCondition => ({});

describe('capabilities', () => {
  it('NEG-1 are derived from domains and kinds, and from names', () => {
    const derived = deriveCapabilities([
      toolOf('github', 'list_issues'),
      toolOf('github', 'create_issue'),
      toolOf('gis', 'radius_query'),
    ]);
    expect(derived.get('github.issues:read')).toEqual(['list_issues']);
    expect(derived.get('github:read')).toEqual(['list_issues']);
    expect(derived.get('github.issues:write')).toEqual(['create_issue']);
    expect(derived.get('gis:radius_query')).toEqual(['radius_query']);
    expect([...derived.keys()].every(isCapability)).toBe(true);
  });

  it('NEG-5 which tools serve a capability that is declared: tagged ones, else subject and act, else the act', () => {
    const tools = ['get_incident', 'search_incidents', 'delete_incident', 'get_budget'].map((name) =>
      toolOf('irwin', name),
    );
    expect(toolsServing('incident:read', tools)).toEqual(['get_incident', 'search_incidents']);
    expect(toolsServing('incident:delete', tools)).toEqual(['delete_incident']);
    expect(toolsServing('incident:*', tools)).toEqual(['get_incident', 'search_incidents', 'delete_incident']);
    expect(toolsServing('weather:read', tools)).toEqual(['get_incident', 'search_incidents', 'get_budget']);
    expect(toolsServing('raster:ndvi', [toolOf('gee', 'compute_ndvi'), toolOf('gee', 'compute_dnbr')])).toEqual([
      'compute_ndvi',
    ]);
    const tagged = [...tools, toolOf('irwin', 'irwin_lookup', ['incident:read'])];
    expect(toolsServing('incident:read', tagged)).toEqual(['irwin_lookup']);
    expect(toolsServing('tools.call', tools)).toHaveLength(4);
  });
});

describe('negotiation', () => {
  it('NEG-3 healthy first, declared before probed before derived, then by name', () => {
    const servers = [
      server('b', ['get_incident'], ['incident:read']),
      server('a', ['get_incident'], ['incident:read']),
      server('incident', ['get_incident']),
      server('p', ['get_incident'], [], ['incident:read']),
      server('0-sick', ['get_incident'], ['incident:read']),
    ];
    const { state, bindings } = negotiate(asking('incident:read'), servers, (id) =>
      id === '0-sick' ? { failing: 'x' } : {},
    );
    expect(state).toBe('READY');
    expect(bindings).toEqual([
      {
        request: 'incident:read',
        capability: 'incident:read',
        server: 'a',
        origin: 'declared',
        healthy: true,
        tools: ['get_incident'],
        alternatives: ['b', 'p', 'incident', '0-sick'],
      },
    ]);
  });

  it('A51 a server that the user did not write down never comes before one of the user, however well it is', () => {
    const foreign = { ...server('a-project', ['get_incident'], ['incident:read']), isOwn: false };
    const own = server('own', ['get_incident'], ['incident:read']);
    const isFailing = (id: string): ServerCondition => (id === 'own' ? { failing: 'it is down' } : {});
    for (const condition of [fine, isFailing]) {
      const { bindings } = negotiate(asking('incident:read'), [foreign, own], condition);
      expect(bindings.map((binding) => binding.server)).toEqual(['own']);
    }
    const alone = { ...server('a-project', ['get_incident'], ['incident:read']), isOwn: false };
    expect(negotiate(asking('incident:read'), [alone], fine).bindings).toMatchObject([{ server: 'a-project' }]);
  });

  it('A51 a wildcard that a project declares is not taken as one', () => {
    const greedy = { ...server('greedy', ['read_incident'], ['mail:*', '*:*']), isOwn: false };
    expect(negotiate(asking('mail:send'), [greedy], fine).bindings).toEqual([]);
    expect(negotiate(asking('mail:*'), [greedy], fine).bindings).toEqual([]);
  });

  it('NEG-3 wildcards: a request for a kind gets all of it, from every server that has it; so does a declaration', () => {
    const servers = [
      server('one', ['compute_dnbr'], ['raster:dnbr']),
      server('two', ['compute_ndvi'], ['raster:ndvi', 'other:x']),
    ];
    const { bindings } = negotiate(asking('raster:*'), servers, fine);
    expect(bindings.map(({ request, capability, server: id }) => [request, capability, id])).toEqual([
      ['raster:*', 'raster:dnbr', 'one'],
      ['raster:*', 'raster:ndvi', 'two'],
    ]);
    const wide = negotiate(asking('raster:ndvi'), [server('all', ['compute_ndvi', 'drop'], ['raster:*'])], fine);
    expect(wide.bindings).toMatchObject([{ server: 'all', capability: 'raster:ndvi', tools: ['compute_ndvi'] }]);
    const boast = negotiate(asking('raster:ndvi'), [server('boaster', ['x'], [], ['*'])], fine);
    expect(boast.state).toBe('UNAVAILABLE');
  });

  it('NEG-4 what is missing is told with its reason and what to do', () => {
    const servers = [
      server('irwin', ['get_incident'], ['incident:read', 'report:print']),
      server('off', ['x'], ['gis:query']),
      server('later', undefined),
    ];
    const { state, missing } = negotiate(
      asking('incident:read', 'incidents:read', 'gis:query', 'report:print'),
      servers,
      (id) => (id === 'off' ? { off: 'it lacks a variable' } : {}),
    );
    expect(state).toBe('DEGRADED');
    expect(missing.map(({ capability, reason }) => `${capability}: ${reason}`)).toEqual([
      'incidents:read: no server offers it; the nearest is irwin.incidents:read; not known yet: the tools of later',
      'gis:query: "off" offers it, but is off: it lacks a variable',
      'report:print: "irwin" declares it, but none of its tools serves it; tag those that do with it',
    ]);
    expect(missing.every(({ action }) => action.length > 10)).toBe(true);
  });

  it('NEG-4 only a failing server: bound, so that it can recover, but not ready', () => {
    const servers = [server('irwin', ['get_incident'], ['incident:read'])];
    const sick = negotiate(asking('incident:read'), servers, () => ({ failing: 'it crashed' }));
    expect(sick).toMatchObject({ state: 'UNAVAILABLE', bindings: [{ server: 'irwin', healthy: false }], missing: [] });
    expect(sick.impaired[0]?.reason).toContain('it crashed');
    expect(negotiate(asking(), servers, fine)).toMatchObject({ state: 'READY', bindings: [] });
  });

  it('NEG-3 a binding that only a declaration supports is not called ready, and comes after a healthy one', () => {
    const declared = server('new', undefined, ['incident:read']);
    const alone = negotiate(asking('incident:read'), [declared], fine);
    expect(alone).toMatchObject({
      state: 'DEGRADED',
      bindings: [{ server: 'new', healthy: false }],
      missing: [],
      impaired: [
        {
          capability: 'incident:read',
          reason: '"new" declares it, but its tools are not known yet',
          action: 'Learn the tools of the server: toolscout discover new.',
        },
      ],
    });
    const both = negotiate(asking('incident:read'), [declared, server('incident', ['get_incident'])], fine);
    expect(both).toMatchObject({ state: 'READY', bindings: [{ server: 'incident', alternatives: ['new'] }] });
    const sick = negotiate(
      asking('incident:read'),
      [declared, server('a', ['get_incident'], ['incident:read'])],
      (id) => (id === 'a' ? { failing: 'it crashed' } : {}),
    );
    expect(sick).toMatchObject({ state: 'DEGRADED', bindings: [{ server: 'new', alternatives: ['a'] }] });
  });

  it('NEG-5 a binding covers its tools on its server and nothing else', () => {
    const servers = [
      server('irwin', ['get_incident', 'delete_incident'], ['incident:read']),
      server('b', ['get_incident'], ['incident:read']),
    ];
    const negotiation = negotiate(asking('incident:read'), servers, fine);
    expect(covers(negotiation, 'b', 'get_incident')).toBe(true);
    expect(covers(negotiation, 'irwin', 'get_incident')).toBe(false);
    expect(covers(negotiation, 'b', 'delete_incident')).toBe(false);
    const unknown = negotiate(asking('incident:read'), [server('new', undefined, ['incident:read'])], fine);
    expect(unknown.bindings[0]?.tools).toBeUndefined();
    expect(covers(unknown, 'new', 'anything')).toBe(false);
  });

  it('NEG-3 R15 the order of the servers changes nothing, and nothing outside the request is ever covered', () => {
    const someServer = fc.record({
      id: fc.constantFrom('a', 'b', 'github', 'incident', 'gis'),
      tools: fc.uniqueArray(fc.constantFrom('get_incident', 'delete_incident', 'radius_query', 'list_issues', 'drop'), {
        maxLength: 4,
      }),
      declared: fc.uniqueArray(fc.constantFrom('incident:read', 'gis:*', 'incident:*', 'x:y'), { maxLength: 3 }),
    });
    const requests = fc.uniqueArray(fc.constantFrom('incident:read', 'gis:radius_query', '*:read', 'github.*:read'), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(fc.uniqueArray(someServer, { selector: ({ id }) => id, maxLength: 5 }), requests, (made, wanted) => {
        const servers = made.map(({ id, tools, declared }) => server(id, tools, declared));
        const one = negotiate(asking(...wanted), servers, fine);
        expect(negotiate(asking(...wanted), servers.toReversed(), fine).bindings).toEqual(one.bindings);
        for (const { id } of made) expect(covers(one, id, 'drop') || covers(one, id, 'delete_incident')).toBe(false);
      }),
      { numRuns: repetitions(200, 1000) },
    );
  });
});
