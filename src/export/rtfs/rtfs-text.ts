import { printable } from '../../kernel/text.js';

/** Names that are keywords to every reader of RTFS; all others are written as strings. */
const KEYWORD = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;

/** A string of RTFS: escaped as in JSON, invisible characters too, so that it is one line of plain text. */
export function stringText(text: string): string {
  return printable(JSON.stringify(text));
}

/** A name as a keyword where it can be one, else as a string. */
export function nameText(name: string): string {
  return KEYWORD.test(name) ? `:${name}` : stringText(name);
}

/** A list of strings. */
export function stringsText(texts: readonly string[]): string {
  return `[${texts.map((text) => stringText(text)).join(' ')}]`;
}
