import type { ReloadReport } from '../../api/types.js';
import { plural } from '../../text/format.js';

/** What reading the config again has changed. */
export function reportText(report: ReloadReport): string {
  if (!report.changed) return 'The config was read again. Nothing has changed.';
  const parts = [
    report.added.length > 0 && `added ${report.added.join(', ')}`,
    report.removed.length > 0 && `removed ${report.removed.join(', ')}`,
    report.reconnected.length > 0 && `reconnected ${report.reconnected.join(', ')}`,
  ].filter(Boolean);
  const restart =
    report.needsRestart.length > 0 ? ` ${report.needsRestart.join(', ')} takes effect after a restart.` : '';
  return `The new config is in force${parts.length > 0 ? `: ${parts.join('; ')}` : ''}; ${plural(report.unchanged, 'server')} unchanged.${restart}`;
}
