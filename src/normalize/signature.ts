import { printable } from '../kernel/text.js';
import type { Parameter, Tool } from '../model/tool.js';

/** Characters of a signature. */
const SIGNATURE_LENGTH = 300;

/** Characters spent on the values of one parameter. */
const VALUES_LENGTH = 80;

/** Foreign text on one line and no longer than `length`. */
function short(text: string, length: number): string {
  const safe = printable(text.slice(0, length * 2).replace(/\s+/g, ' '));
  return safe.length <= length ? safe : `${safe.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function typeText(parameter: Parameter): string {
  if (!parameter.values || parameter.values.length === 0) return parameter.type;
  const isText = parameter.type.startsWith('string') || parameter.type.startsWith('any');
  let text = '';
  for (const [index, value] of parameter.values.entries()) {
    const shown = isText ? JSON.stringify(short(value, 40)) : short(value, 40);
    if (index > 0 && text.length + shown.length > VALUES_LENGTH) {
      text += '|…';
      break;
    }
    text += index === 0 ? shown : `|${shown}`;
  }
  if (!parameter.type.endsWith('[]')) return text;
  return text.includes('|') ? `(${text})[]` : `${text}[]`;
}

/**
 * A tool as one line an agent can call from: `read_file(path: string, head?: number)`. Required
 * parameters come first; what does not fit in 300 characters is counted, not shown.
 */
export function signatureOf(tool: Tool): string {
  const ordered = [...tool.parameters.filter((p) => p.required), ...tool.parameters.filter((p) => !p.required)];
  let text = `${short(tool.name, 128)}(`;
  for (const [index, parameter] of ordered.entries()) {
    const shown = `${short(parameter.name, 64)}${parameter.required ? '' : '?'}: ${typeText(parameter)}`;
    const next = `${text}${index === 0 ? '' : ', '}${shown}`;
    const left = ordered.length - index;
    if (next.length + String(left).length + 5 > SIGNATURE_LENGTH) return `${text}${index === 0 ? '' : ', '}…+${left})`;
    text = next;
  }
  return `${text})`;
}
