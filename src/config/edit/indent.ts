/** What a text indents its first indented line with; two spaces when there is none. */
export function indentOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
}
