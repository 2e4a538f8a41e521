import type { ScanFinding, ScanReport } from '../../gateway/index.js';
import { sha256 } from '../../kernel/hash.js';
import { addressOf } from '../../kernel/ids.js';
import { VERSION } from '../../kernel/version.js';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const ABOUT = 'https://github.com/toolscout/toolscout/blob/main/docs/scan.md';

/** What a check is about, by its name. */
function ruleOf(check: string): object {
  return {
    id: check,
    shortDescription: { text: `Signs of an attack in a definition: ${check.replaceAll('-', ' ')}` },
    helpUri: ABOUT,
  };
}

function addressIn({ kind, server, name }: ScanFinding): string {
  return kind === 'instructions' ? server : addressOf(server, name);
}

function resultOf(finding: ScanFinding, file: string | undefined): object {
  const { kind, check, reason, weight, path } = finding;
  const address = addressIn(finding);
  return {
    ruleId: check,
    level: weight === 'hard' ? 'error' : 'warning',
    message: { text: `The ${kind} ${address}${path === undefined ? '' : ` (${path})`}: it ${reason}.` },
    locations: [
      {
        ...(file !== undefined && {
          physicalLocation: { artifactLocation: { uri: file.replaceAll('\\', '/') }, region: { startLine: 1 } },
        }),
        logicalLocations: [{ fullyQualifiedName: `${address}${path ?? ''}`, kind: 'member' }],
      },
    ],
    // The same finding in the next run is the same result.
    partialFingerprints: { 'toolscout/v1': sha256(JSON.stringify([kind, address, check, reason, path ?? ''])) },
  };
}

/** A scan as SARIF 2.1.0, which code hosts show beside the code. */
export function toSarif({ findings }: ScanReport, file: string | undefined): object {
  const checks = [...new Set(findings.map(({ check }) => check))].toSorted();
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'toolscout', version: VERSION, informationUri: ABOUT, rules: checks.map(ruleOf) } },
        results: findings.map((finding) => resultOf(finding, file)),
      },
    ],
  };
}
