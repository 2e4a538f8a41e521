import type { Problem } from '../../kernel/errors.js';
import { mapSinkSecrets, type AuditConfig } from '../../model/audit-export.js';
import { joinPath, problemAt } from '../read/path.js';

/** Shorter secrets can be guessed. */
const MIN_SECRET = 16;

/**
 * The secrets of sinks expand; a sink whose secret is missing is left out, since a receiver could not authenticate its
 * deliveries.
 */
export function expandAudit(
  audit: AuditConfig,
  expand: (text: string, problems: string[]) => string,
  note: { readonly secrets: Set<string>; readonly warnings: Problem[] },
): AuditConfig {
  const sinks = Object.entries(audit.export).flatMap(([name, sink]) => {
    let isUsable = true;
    const filled = mapSinkSecrets(sink, (written, field) => {
      const problems: string[] = [];
      const secret = expand(written, problems);
      note.secrets.add(secret);
      if (problems.length === 0 && secret.length < MIN_SECRET) problems.push(`has fewer than ${MIN_SECRET} characters`);
      if (problems.length === 0) return secret;
      const path = joinPath('audit.export', name, field);
      note.warnings.push(problemAt(path, `${problems.join('; ')}; nothing is sent there`));
      isUsable = false;
      return secret;
    });
    return isUsable ? [[name, filled] as const] : [];
  });
  return { ...audit, export: Object.fromEntries(sinks) };
}
