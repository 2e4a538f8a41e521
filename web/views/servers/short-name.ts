/** A short name for a server of the registry. */
export function shortName(name: string): string {
  const last = name.split('/').at(-1) ?? name;
  return last.replace(/^mcp-server-|^server-|-mcp$|-mcp-server$/g, '').replaceAll(/[^\w-]+/g, '-') || 'server';
}
