import { addressOf } from '../../kernel/ids.js';
import type { Tool } from '../../model/tool.js';

/** Orders tools by address. */
export function compareAddresses(a: Tool, b: Tool): number {
  if (a.server === b.server) return compareTexts(a.name, b.name);
  // Addresses are put together only where the shorter id ends and the colon decides.
  if (a.server.startsWith(b.server) || b.server.startsWith(a.server)) {
    return compareTexts(addressOf(a.server, a.name), addressOf(b.server, b.name));
  }
  return compareTexts(a.server, b.server);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Orders tools by name, and those of one name by address. */
export function compareNames(a: Tool, b: Tool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : compareAddresses(a, b);
}

/** One tool for each name, the later of two, in the order of names. */
export function sortedByName(tools: readonly Tool[]): Tool[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()].toSorted(compareNames);
}
