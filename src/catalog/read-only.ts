import { weighTool } from '../approvals/index.js';
import { writingVerbIn } from '../discover/index.js';
import { isObject } from '../kernel/json.js';
import type { Tool } from '../model/tool.js';

/** A tool as its trusted definition shows it. */
type Judged = Pick<Tool, 'name' | 'definition' | 'categories'>;

/**
 * Why a tool does not count as one that only reads, or `undefined` when it does (META-10): its definition says `readOnlyHint`
 * and neither its name nor its risk contradicts that. The definition must be one that is trusted, as that of every enabled
 * tool of the catalog is.
 */
export function createReadOnlyJudge(): (tool: Judged) => string | undefined {
  // A tool of the catalog is replaced when anything about it changes, so what was found stays true for the object.
  const found = new WeakMap<Judged, string | undefined>();
  return (tool) => {
    if (!found.has(tool)) found.set(tool, readOnlyProblem(tool));
    return found.get(tool);
  };
}

/** The same without a memory. */
export function readOnlyProblem(tool: Judged): string | undefined {
  const { annotations } = tool.definition;
  const hints = isObject(annotations) ? annotations : {};
  if (hints['readOnlyHint'] !== true) return 'its definition does not say readOnlyHint';
  if (hints['destructiveHint'] === true) return 'its definition says destructiveHint, too';
  const verb = writingVerbIn(tool.name);
  if (verb !== undefined) return `its name contains "${verb}"`;
  const { level, reasons } = weighTool(tool, { changed: false });
  return level === 'high' || level === 'critical' ? `its risk is ${level} (${reasons[0]})` : undefined;
}
