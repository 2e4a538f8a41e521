import type { JsonObject } from '../../kernel/json.js';
import { printable } from '../../kernel/text.js';
import { VERSION } from '../../kernel/version.js';
import { type Drift, LOCK_FILE, type LockCheck } from '../../model/lock.js';

const RULES: Readonly<Record<Drift['change'], string>> = {
  added: 'A definition or server is not in the lock.',
  removed: 'A definition or server of the lock is missing.',
  changed: 'A definition or server differs from the lock.',
};

/** A drift in one line for people. */
export function describeDrift({ server, subject, name, change, changes }: Drift): string {
  const what = name === undefined ? subject : `${subject.replace(/s$/, '')} "${name}"`;
  const where = changes.slice(0, 5).map(({ path }) => (path === '' ? 'the whole definition' : path));
  const more = changes.length > where.length ? ` and ${changes.length - where.length} more` : '';
  const at = change === 'changed' && where.length > 0 ? `: ${where.join(', ')}${more}` : '';
  return printable(`${server}: ${what} ${change}${at}`).replaceAll(/\s+/g, ' ');
}

/** A comparison as SARIF 2.1.0, which CI services show beside the lines of the lock file. */
export function toSarif({ drifts }: LockCheck): JsonObject {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'toolscout',
            version: VERSION,
            informationUri: 'https://www.npmjs.com/package/toolscout',
            rules: Object.entries(RULES).map(([change, text]) => ({
              id: `lock-${change}`,
              shortDescription: { text },
            })),
          },
        },
        results: drifts.map((drift) => ({
          ruleId: `lock-${drift.change}`,
          level: 'error',
          message: { text: describeDrift(drift) },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: LOCK_FILE, uriBaseId: '%SRCROOT%' },
                region: { startLine: drift.line },
              },
            },
          ],
          partialFingerprints: {
            'toolscoutDrift/v1': [drift.server, drift.subject, drift.name ?? '', drift.change]
              .map(encodeURIComponent)
              .join('/'),
          },
        })),
      },
    ],
  };
}
