const ROUTE_WORDS: Readonly<Record<string, string>> = {
  mcp: 'MCP host',
  http: 'HTTP API',
  cli: 'command line',
};

/** The word for the front through which something was asked. */
export function routeWord(route: string): string {
  return ROUTE_WORDS[route] ?? route;
}
