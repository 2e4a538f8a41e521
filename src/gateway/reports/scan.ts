import { findFindings } from '../../approvals/index.js';
import { presented, type Catalog } from '../../catalog/catalog.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { RecordedServer } from '../contract/evaluation.js';

/** What a definition is of. */
export type ScannedKind = 'tool' | 'prompt' | 'resource' | 'template' | 'instructions';

/** A sign of an attack in a definition. */
export interface ScanFinding {
  readonly server: string;
  readonly kind: ScannedKind;
  /** Its name or address; the server's id for instructions. */
  readonly name: string;
  /** The check that found it, e.g. `exfiltration`. */
  readonly check: string;
  /** One phrase that follows "it": `tells a model to ignore its instructions`. */
  readonly reason: string;
  /** `hard`: enough to hold the definition back; `soft`: worth a look. */
  readonly weight: 'hard' | 'soft';
  /** JSON pointer of the text in the definition; absent when the definition as a whole shows it. */
  readonly path?: string;
}

/** What a scan looked at, and what it found. */
export interface ScanReport {
  readonly servers: number;
  readonly definitions: number;
  /** Definitions with a hard finding, and with soft ones only. */
  readonly hard: number;
  readonly soft: number;
  readonly findings: readonly ScanFinding[];
  /** Servers whose lists are not known. */
  readonly unknown: readonly string[];
}

interface Scanned {
  readonly server: string;
  readonly kind: ScannedKind;
  readonly name: string;
  readonly definition: JsonObject;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Everything that a recorded list holds. */
export function definitionsOfFile(servers: readonly RecordedServer[]): Scanned[] {
  return servers.flatMap(({ server, tools }) =>
    tools.map(({ definition }) => ({ server, kind: 'tool' as const, name: text(definition['name']), definition })),
  );
}

/** Everything that the servers of a catalog said, whether it is offered or not. */
export function definitionsOf(catalog: Catalog, ids: readonly string[]): { all: Scanned[]; unknown: string[] } {
  const unknown: string[] = [];
  const all = ids.flatMap((server): Scanned[] => {
    const list = catalog.list(server);
    if (!list) {
      unknown.push(server);
      return [];
    }
    const each = (kind: ScannedKind, key: string, items: readonly JsonObject[] | undefined): Scanned[] =>
      (items ?? []).map((definition) => ({ server, kind, name: text(definition[key]), definition }));
    const said: unknown = presented(list);
    return [
      ...each('tool', 'name', list.items),
      ...each('prompt', 'name', list.prompts),
      ...each('resource', 'uri', list.resources),
      ...each('template', 'uriTemplate', list.resourceTemplates),
      ...(isObject(said) ? [{ server, kind: 'instructions' as const, name: server, definition: said }] : []),
    ];
  });
  return { all, unknown };
}

/** Runs the checks over definitions. Deterministic: the same definitions give the same report. */
export function scan(all: readonly Scanned[], servers: number, unknown: readonly string[] = []): ScanReport {
  const findings: ScanFinding[] = [];
  let hard = 0;
  let soft = 0;
  for (const { server, kind, name, definition } of all) {
    const found = findFindings(definition);
    if (found.length === 0) continue;
    if (found.some(({ isHard }) => isHard)) hard += 1;
    else soft += 1;
    for (const { check, reason, isHard, path } of found) {
      const weight = isHard ? 'hard' : 'soft';
      findings.push({ server, kind, name, check, reason, weight, ...(path !== undefined && { path }) });
    }
  }
  return { servers, definitions: all.length, hard, soft, findings, unknown: [...unknown] };
}
