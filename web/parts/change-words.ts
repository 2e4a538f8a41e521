import type { ConfigApplied, ConfigChange, ConfigPlan } from '../api/types.js';
import { diffLines, foldSame } from '../text/diff.js';
import { plural } from '../text/format.js';

/** What the commands of a plan are: something to be run here, or addresses. */
export function commandsTitle(commands: ConfigPlan['commands']): string {
  return commands.some(({ type }) => type === 'stdio')
    ? 'This would be run on your machine'
    : 'This address would be used';
}

/** What the button says that writes the change: also what is allowed with it. */
export function saveLabel({ commands }: Pick<ConfigPlan, 'commands'>): string {
  if (commands.length === 0) return 'Save';
  const local = commands.filter(({ type }) => type === 'stdio').length;
  const what = local === commands.length ? 'command' : local === 0 ? 'address' : 'server';
  const many = what === 'address' ? 'addresses' : `${what}s`;
  return `Save and allow ${commands.length === 1 ? `this ${what}` : `these ${plural(commands.length, what, many)}`}`;
}

/** Whether there is something that may be written. */
export function canSave({ problems, before, after }: Pick<ConfigPlan, 'problems' | 'before' | 'after'>): boolean {
  return problems.length === 0 && before !== after;
}

/** Whether a word that stands for a value is among the lines that a difference shows. */
export function hidesValues({ before, after }: Pick<ConfigPlan, 'before' | 'after'>): boolean {
  if (!`${before}${after}`.includes('TOOLSCOUT_SECRET_')) return false;
  return foldSame(diffLines(before, after)).some(
    (row) => typeof row !== 'number' && `${row.left ?? ''} ${row.right ?? ''}`.includes('TOOLSCOUT_SECRET_'),
  );
}

/** What the dialog about a change says where it is not just any change. */
export interface ChangeWords {
  readonly title: string;
  /** What the button says. */
  readonly verb: string;
  /** What has happened afterwards. */
  readonly done: string;
}

/** Whether a change takes servers out of the config. */
export function isRemoval(change: ConfigChange | undefined): boolean {
  return change !== undefined && 'servers' in change && Object.values(change.servers).every((entry) => entry === null);
}

/** The words for adding servers, as the page before named it. */
export function additionWords(change: ConfigChange): Partial<ChangeWords> {
  const ids = 'servers' in change ? Object.keys(change.servers) : [];
  return {
    title: ids.length === 1 ? `Add ${ids[0]!.slice(0, 120)}` : `Add ${plural(ids.length, 'server')}`,
    verb: ids.length === 1 ? 'Add the server' : `Add ${plural(ids.length, 'server')}`,
  };
}

/** The words for taking a server out of the config. */
export function removalWords(id: string): ChangeWords {
  return { title: `Remove ${id}`, verb: 'Remove', done: `${id} was removed.` };
}

/** The words for offering one tool that a rule disables. */
export function exceptionWords(address: string): ChangeWords & { readonly note: string } {
  const name = address.slice(0, 120);
  return {
    title: `Enable ${name}`,
    verb: 'Enable the tool',
    done: `${name} is offered now.`,
    note: `Agents get ${name}; every other tool stays as it is.`,
  };
}

/** What became of a change; `done` says it in its own words. */
export function writtenText({ file, problem }: Pick<ConfigApplied, 'file' | 'problem'>, done?: string): string {
  if (problem === undefined && done !== undefined) return done;
  return problem === undefined
    ? `${file} was written and is in force.`
    : `${file} was written, but not taken over: ${problem}`;
}
