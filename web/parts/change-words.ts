import type { ConfigApplied, ConfigPlan } from '../api/types.js';
import { plural } from '../text/format.js';

/** What the commands of a plan are: something to be run here, or addresses. */
export function commandsTitle(commands: ConfigPlan['commands']): string {
  return commands.some(({ type }) => type === 'stdio')
    ? 'This would be run on your machine'
    : 'This address would be used';
}

/** What the button says that writes the change: also what is allowed with it. */
export function saveLabel({ commands }: Pick<ConfigPlan, 'commands'>): string {
  return commands.length > 0 ? `Save and allow ${plural(commands.length, 'server')}` : 'Save';
}

/** Whether there is something that may be written. */
export function canSave({ problems, before, after }: Pick<ConfigPlan, 'problems' | 'before' | 'after'>): boolean {
  return problems.length === 0 && before !== after;
}

/** What became of a change. */
export function writtenText({ file, problem }: Pick<ConfigApplied, 'file' | 'problem'>): string {
  return problem === undefined
    ? `${file} was written and is in force.`
    : `${file} was written, but not taken over: ${problem}`;
}
