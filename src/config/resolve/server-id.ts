import type { Problem } from '../../kernel/errors.js';
import { LOOK_ALIKES } from '../../kernel/look-alikes.js';
import { joinPath, problemAt } from '../read/path.js';

const MAX_ID = 64;

/** Whether a name may be the id of a server: it becomes part of addresses, file names and log lines. */
export function isServerId(id: string): boolean {
  return /^[A-Za-z0-9_.-]{1,64}$/.test(id) && /[A-Za-z0-9]/.test(id);
}

/** The nearest allowed id to a name. */
export function suggestServerId(name: string): string {
  const latin = [...name.slice(0, 4 * MAX_ID).normalize('NFKD')]
    .map((char) => LOOK_ALIKES.get(char) ?? LOOK_ALIKES.get(char.toLowerCase())?.toUpperCase() ?? char)
    .join('')
    .replace(/\p{M}/gu, '');
  const safe = latin
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, MAX_ID)
    .replace(/[-.]+$/, '');
  return isServerId(safe) ? safe : 'server';
}

/** What an id looks like to a hurried reader: case, separators and look-alike characters made one. */
function skeletonOf(id: string): string {
  return id
    .toLowerCase()
    .replace(/[1il]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replace(/[._-]/g, '-');
}

/** A warning for each id that a reader, or a model, could take for an earlier one (A14). */
export function findConfusableIds(ids: readonly string[], path: string): Problem[] {
  const seen = new Map<string, string>();
  const warnings: Problem[] = [];
  for (const id of ids) {
    const skeleton = skeletonOf(id);
    const other = seen.get(skeleton);
    if (other === undefined) seen.set(skeleton, id);
    else {
      const how = other.toLowerCase() === id.toLowerCase() ? 'differs only by case from' : 'is easily confused with';
      warnings.push(problemAt(joinPath(path, id), `this id ${how} "${other}"; rename one of them`));
    }
  }
  return warnings;
}
