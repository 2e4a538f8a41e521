import type { Problem } from '../../kernel/errors.js';
import type { AuditConfig } from '../../model/audit-export.js';
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
  const sinks = Object.entries(audit.export).filter(([name, sink]) => {
    if (sink.type !== 'webhook') return true;
    const problems: string[] = [];
    const secret = expand(sink.secret, problems);
    note.secrets.add(secret);
    if (problems.length === 0 && secret.length < MIN_SECRET) problems.push(`has fewer than ${MIN_SECRET} characters`);
    const path = joinPath('audit.export', name, 'secret');
    if (problems.length > 0) note.warnings.push(problemAt(path, `${problems.join('; ')}; nothing is sent there`));
    return problems.length === 0;
  });
  const filled = sinks.map(([name, sink]) => [
    name,
    sink.type === 'webhook' ? { ...sink, secret: expand(sink.secret, []) } : sink,
  ]);
  return { ...audit, export: Object.fromEntries(filled) as AuditConfig['export'] };
}
