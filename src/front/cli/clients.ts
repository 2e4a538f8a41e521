import { ToolscoutError } from '../../kernel/errors.js';
import { nearestNames, printable } from '../../kernel/text.js';

/** A client that is known, or what was probably meant. */
export function knownClient(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name;
  const [nearest] = nearestNames(name, known, 1);
  const hint = nearest === undefined ? `Known are: ${known.join(', ')}.` : `Did you mean "${nearest}"?`;
  throw new ToolscoutError('INVALID_REQUEST', `Unknown client "${printable(name)}".`, { suggestion: hint });
}
