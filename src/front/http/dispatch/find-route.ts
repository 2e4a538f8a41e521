/** Plain paths need no parser: nothing in them is escaped, doubled or climbs. */
const PLAIN = /^https?:\/\/[\w.:[\]-]+((?:\/[\w-][\w.-]*)+)$/;

/** The address of a request; taken apart only where it must be. */
export class Address {
  readonly path: string;
  /** There is nothing but a path. */
  readonly isBare: boolean;
  readonly #text: string;
  #url: URL | undefined;

  constructor(text: string) {
    this.#text = text;
    const plain = PLAIN.exec(text)?.[1];
    this.path = plain ?? this.url.pathname;
    this.isBare = plain !== undefined || this.url.search === '';
  }

  get url(): URL {
    return (this.#url ??= new URL(this.#text));
  }
}

/** What a route is found by; a path has `{name}` for what varies. */
interface Findable {
  readonly method: string;
  readonly path: string;
}

interface Template<Entry> {
  readonly segments: readonly string[];
  readonly methods: Map<string, Entry>;
}

/** The routes at one path, by method, and what varies in it. */
export interface Found<Entry> {
  readonly methods: ReadonlyMap<string, Entry>;
  readonly params: Record<string, string>;
}

const segmentsOf = (path: string): string[] => path.split('/').slice(1);

/** One part of a path; `undefined` when it cannot be decoded: then it matches nothing. */
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

/** Finds the routes at a path: fixed paths by one look into a map, paths with parameters in order. */
export function createFinder<Entry extends Findable>(
  routes: readonly Entry[],
): (path: string) => Found<Entry> | undefined {
  const fixed = new Map<string, Map<string, Entry>>();
  const templates = new Map<string, Template<Entry>>();
  for (const route of routes) {
    if (!route.path.includes('{')) {
      const methods = fixed.get(route.path) ?? new Map<string, Entry>();
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

/** The methods that are allowed at a path, as `Allow` names them. */
export function methodsOf({ methods }: Found<unknown>): string {
  return [...methods.keys(), ...(methods.has('GET') ? ['HEAD'] : [])].join(', ');
}
