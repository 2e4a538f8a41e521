import type { Parameter } from '../model/tool.js';

/** Parameters as they are listed: required ones first, then by name (SCH-7). */
export function sortParameters(parameters: readonly Parameter[]): Parameter[] {
  return parameters.toSorted((a, b) => Number(b.required) - Number(a.required) || (a.name < b.name ? -1 : 1));
}
