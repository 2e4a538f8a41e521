import type { Route } from '../route.js';

interface Template {
  readonly segments: readonly string[];
  readonly methods: Map<string, Route>;
}

/** The routes at one path, by method, and what varies in it. */
export interface Found {
  readonly methods: Map<string, Route>;
  readonly params: Record<string, string>;
}

const segmentsOf = (path: string): string[] => path.split('/').slice(1);

/** One part of a path; what cannot be decoded fits nothing. */
function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A broken escape is no name of anything.
    return undefined;
  }
}

function matchTemplate(template: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (template.length !== segments.length) return undefined;
  const params = Object.create(null) as Record<string, string>;
  for (const [place, wanted] of template.entries()) {
    const segment = segments[place]!;
    if (!wanted.startsWith('{')) {
      if (wanted !== segment) return undefined;
      continue;
    }
    const value = decode(segment);
    if (value === undefined || value === '') return undefined;
    params[wanted.slice(1, -1)] = value;
  }
  return params;
}

/** A finder of routes: those without anything that varies by one look, the others in order. */
export function createFinder(routes: readonly Route[]): (path: string) => Found | undefined {
  const fixed = new Map<string, Map<string, Route>>();
  const templates = new Map<string, Template>();
  for (const route of routes) {
    if (!route.path.includes('{')) {
      const methods = fixed.get(route.path) ?? new Map<string, Route>();
      fixed.set(route.path, methods.set(route.method, route));
      continue;
    }
    const template = templates.get(route.path) ?? { segments: segmentsOf(route.path), methods: new Map() };
    template.methods.set(route.method, route);
    templates.set(route.path, template);
  }
  const varying = [...templates.values()];
  return (path) => {
    const exact = fixed.get(path);
    if (exact) return { methods: exact, params: {} };
    const segments = segmentsOf(path);
    for (const { segments: template, methods } of varying) {
      const params = matchTemplate(template, segments);
      if (params) return { methods, params };
    }
    return undefined;
  };
}

/** The methods that mean something at a path, as `Allow` names them. */
export function methodsOf({ methods }: Found): string {
  return [...methods.keys(), ...(methods.has('GET') ? ['HEAD'] : [])].join(', ');
}
