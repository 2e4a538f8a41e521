import type { Tool } from '../../model/tool.js';
import { compareAddresses } from '../rank/rank.js';

/** Orders tools by name, and those of one name by address. */
export function compareNames(a: Tool, b: Tool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : compareAddresses(a, b);
}

/** One tool for each name, the later of two, in the order of names. */
export function sortedByName(tools: readonly Tool[]): Tool[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()].toSorted(compareNames);
}

/** Where a tool stands among tools sorted by name, or -1; a map for each server would hold every name twice. */
export function placeOf(tools: readonly Tool[], name: string): number {
  let low = 0;
  let high = tools.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tools[middle]!.name < name) low = middle + 1;
    else high = middle;
  }
  return tools[low]?.name === name ? low : -1;
}
