import type { Tool } from '../../model/tool.js';
import { compareAddresses } from '../rank/addresses.js';

/** Orders tools by name, and those of one name by address. */
export function compareNames(a: Tool, b: Tool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : compareAddresses(a, b);
}

/** One tool for each name, the later of two, in the order of names. */
export function sortedByName(tools: readonly Tool[]): Tool[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()].toSorted(compareNames);
}
