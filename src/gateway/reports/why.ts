import type { Remedy } from '../../kernel/remedy.js';
import { addressOf } from '../../kernel/ids.js';
import { strictTool } from '../../protocol/strict-items.js';
import { counted, nearestNames } from '../../kernel/text.js';
import { hasScope } from '../../model/principal.js';
import { holdOf, remedyOfHold } from '../../model/hold.js';
import { disabledPhrase, notListed } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';
import { problemOf, type Sources as ViewSources } from '../../catalog/views.js';
import { isUsable } from '../../catalog/catalog.js';

/** Why a tool is or is not offered (FIND-5). */
export interface Why {
  readonly address: string;
  readonly offered: boolean;
  /** What decided: the first of these that stands in the way, or `none`. */
  readonly because:
    | 'none'
    | 'server'
    | 'connection'
    | 'unknown-tool'
    | 'malformed'
    | 'rule'
    | 'approval'
    | 'quarantine'
    | 'rejected'
    | 'provenance'
    | 'scope';
  /** One sentence for a person. */
  readonly reason: string;
  /** What can be done about it; each front words it for its readers. */
  readonly remedy?: Remedy;
  /** What is changed of it for hosts that are offered it directly, because clients could not parse it (META-5). */
  readonly repairs?: readonly string[];
}

/** The answer about a server that the viewer may not see: the same words whether it exists or not (S12). */
function explainUnseen(server: string, tool: string): Why {
  const reason = `No server "${server}" is configured.`;
  return { address: addressOf(server, tool), offered: false, because: 'server', reason };
}

/** The answer about a tool that the viewer may not see, whatever its state. */
function explainOutOfScope(server: string, tool: string, reason: string): Why {
  return { address: addressOf(server, tool), offered: false, because: 'scope', reason };
}

/** What an explanation is made of. */
interface Sources extends ViewSources {
  readonly now: number;
}

/** Says in one sentence why a tool is or is not offered to a viewer. */
export function explainFor(
  viewer: Viewer,
  server: string,
  tool: string,
  sources: Sources & { readonly isHidden: boolean },
): Why {
  if (sources.isHidden) return explainUnseen(server, tool);
  const { principal, skill } = viewer;
  const address = addressOf(server, tool);
  const why = !skill || viewer.sees(server) ? explainTool(server, tool, sources) : undefined;
  // Which tools of a bound server serve a skill is not known before its list is.
  if (skill && !viewer.sees(server, tool) && why?.because !== 'connection') {
    // The same words for every tool that is not bound, whether it exists or not.
    return explainOutOfScope(
      server,
      tool,
      `"${address}" is not for skill "${skill.id}": none of its bindings covers it.`,
    );
  }
  if (!skill && !viewer.sees(server, tool))
    return explainOutOfScope(server, tool, `"${address}" is not for "${principal}".`);
  if (!why!.offered || hasScope(viewer, 'call')) return why!;
  const reason = `"${address}" is offered, but "${principal}" may not call it: the scope "call" is missing.`;
  return explainOutOfScope(server, tool, reason);
}

/** Says in one sentence why a tool is or is not offered to who sees everything. */
function explainTool(server: string, tool: string, sources: Sources): Why {
  const { catalog } = sources;
  const address = addressOf(server, tool);
  const no = (because: Why['because'], reason: string, remedy?: Remedy): Why => ({
    address,
    offered: false,
    because,
    reason,
    ...(remedy && { remedy }),
  });

  const known = catalog.servers.get(server);
  if (!known) {
    const near = nearestNames(server, catalog.servers.keys(), 1)[0];
    return no('server', `No server "${server}" is configured${near ? `; the nearest name is "${near}"` : ''}.`);
  }
  const hold = known.enabled ? catalog.hold(server) : undefined;
  if (hold) return no('approval', `Server "${server}" is not used: ${hold.reason}.`, hold.remedy);
  if (!isUsable(known)) return no('server', `Server "${server}" is off: ${problemOf(known, sources)}.`);
  const list = catalog.list(server);
  if (!list) {
    const failure = problemOf(known, sources);
    return failure
      ? no('connection', `Cannot list the tools of "${server}": ${failure}`)
      : no('connection', `The tools of "${server}" are not known yet.`, { kind: 'discover', server });
  }
  const found = catalog.index.tool(server, tool);
  const bad = list.leftOut?.find(({ method, name }) => method === 'tools/list' && name === tool);
  if (!found && bad) return no('malformed', `"${address}" is left out: ${bad.reason}. Tell the author of the server.`);
  if (!found) {
    const names = catalog.index.tools(server).map((each) => each.name);
    const near = nearestNames(tool, names, 1)[0];
    const dropped =
      list.dropped > 0
        ? ` ${counted(list.dropped, 'malformed entry', 'malformed entries')} of its list ${list.dropped === 1 ? 'was' : 'were'} dropped.`
        : '';
    return no(
      'unknown-tool',
      `Server "${server}" lists ${counted(names.length, 'tool')} and "${tool}" is not one of them${near ? `; the nearest is "${near}"` : ''}.${dropped}`,
    );
  }
  if (found.provenance !== 'protocol') {
    if (!found.decision.enabled) return no('rule', `"${address}" is ${disabledPhrase(found.decision)}.`);
    return no(
      'provenance',
      `"${address}" cannot be called: ${notListed(found)}.${found.hold ? ` It is hidden: ${found.hold.reason}.` : ''}`,
    );
  }
  if (found.status === 'disabled') return no('rule', `"${address}" is ${disabledPhrase(found.decision)}.`);
  const held = holdOf(found);
  if (held) {
    const remedy = remedyOfHold(server, tool, held);
    if (held.cause === 'rejected') return no('rejected', `"${address}" is not offered: ${held.reason}.`, remedy);
    return found.status === 'quarantined'
      ? no('quarantine', `"${address}" is quarantined: ${held.reason}.`, remedy)
      : no('approval', `"${address}" is not offered: ${held.reason}.`, remedy);
  }
  const minutes = Math.round((sources.now - list.learnedAt) / 60_000);
  const { state } = sources.pool.health(server);
  const aged = sources.isStale(list) ? ', the next search reads it again' : '';
  const now = state === 'disconnected' ? 'not connected; the first call connects it' : state;
  const strict = strictTool(found.definition);
  const repairs = 'repairs' in strict ? strict.repairs : [];
  const mended = repairs.length > 0 ? ` Hosts that see it directly are shown it repaired: ${repairs.join('; ')}.` : '';
  return {
    address,
    offered: true,
    because: 'none',
    reason: `"${address}" is offered (${found.decision.reason}); its definition was learned ${minutes < 1 ? 'just now' : `${minutes} min ago`}${aged}; the server is ${now}.${mended}`,
    ...(repairs.length > 0 && { repairs }),
  };
}
